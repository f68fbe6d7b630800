"""What spark-submit runs: `spark-submit … submit.py --input … --output …`."""

import sys

from frametap_spark.cli import main

if __name__ == "__main__":
    sys.exit(main())

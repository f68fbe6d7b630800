"""jsonschema and PyYAML for the tools that need them; a tool is run again by the Python that has them, if another one has."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

try:
    import yaml
    from jsonschema import Draft202012Validator
except ImportError:
    # scripts/test --all may have installed them for another Python than the first one on the path.
    for python in (shutil.which("python3") or "", "/usr/bin/python3", str(ROOT / ".build-python/bin/python")):
        probe = [python, "-c", "import yaml; from jsonschema import Draft202012Validator"]
        if os.path.exists(python) and subprocess.run(probe, stderr=subprocess.DEVNULL).returncode == 0:
            os.execv(python, [python, *sys.argv])
    print(f"{Path(sys.argv[0]).name} needs jsonschema 4.0 or later and PyYAML for Python"
          " (apt-get install python3-jsonschema python3-yaml)", file=sys.stderr)
    sys.exit(2)

__all__ = ["ROOT", "Draft202012Validator", "yaml"]

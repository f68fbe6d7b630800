"""A standalone cluster of Spark on this machine: a master and two workers, each in a session of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pyspark

HOME = Path(pyspark.__file__).parent


class Cluster:
    """Started when entered, gone when left."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.address = ""
        self.workers: list[subprocess.Popen] = []
        self._processes: list[subprocess.Popen] = []

    def __enter__(self) -> Cluster:
        self._start("master", "master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self.address = self._wait("master", r"Starting Spark master at (spark://\S+)")
        for number in range(2):
            options = (
                "--host",
                "127.0.0.1",
                "--cores",
                "1",
                "--memory",
                "700m",
                "--webui-port",
                "0",
                "--work-dir",
                str(self.folder),
            )
            self.workers.append(self._start(f"worker-{number}", "worker.Worker", *options, self.address))
        for number in range(2):
            self._wait(f"worker-{number}", r"Successfully registered with (master)")
        return self

    def __exit__(self, *error: object) -> None:
        for process in self._processes:
            self._kill(process)

    def kill_worker(self) -> None:
        """`kill -9` of a worker and of the executor that it runs."""
        self._kill(self.workers[0])

    @staticmethod
    def _kill(process: subprocess.Popen) -> None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            return
        process.wait()

    def _start(self, name: str, main: str, *arguments: str) -> subprocess.Popen:
        with (self.folder / f"{name}.log").open("w") as log:
            process = subprocess.Popen(
                [HOME / "bin/spark-class", f"org.apache.spark.deploy.{main}", *arguments],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={**os.environ, "SPARK_HOME": str(HOME), "SPARK_DAEMON_MEMORY": "192m", "SPARK_LOCAL_IP": "127.0.0.1"},
            )
        self._processes.append(process)
        return process

    def _wait(self, name: str, pattern: str) -> str:
        until = time.monotonic() + 90
        while time.monotonic() < until:
            if match := re.search(pattern, (self.folder / f"{name}.log").read_text()):
                return match[1]
            time.sleep(0.1)
        raise TimeoutError(f"{name} does not say {pattern}: {(self.folder / f'{name}.log').read_text()}")

"""Moves whole files between the file systems of Spark and a worker's disk, without reading them into memory.

Files of `file:` are used where they are. For all others Hadoop's own shell runs in a small JVM, with Spark's classes and
settings, so that whatever file system the job can list, its workers can read.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from xml.sax.saxutils import escape

from .errors import Problem


def local_path(url: str) -> Path | None:
    """The path of a file that needs no file system but this machine's. Names are as Hadoop has them: nothing is escaped."""
    scheme, path = match.groups() if (match := re.match(r"([A-Za-z][\w+.-]*):(.*)", url, re.DOTALL)) else ("file", url)
    return Path("/" + path.lstrip("/") if path.startswith("/") else path) if scheme == "file" else None


@dataclass(frozen=True)
class Transfer:
    """What a worker needs to reach the job's file systems."""

    #: Hadoop's settings that differ from its defaults.
    settings: dict[str, str] = field(default_factory=dict)

    def fetch(self, urls: list[str], folder: Path) -> tuple[dict[str, str], list[Problem]]:
        """Copies files to a folder; gives the local path of each URL, and what could not be had."""
        paths: dict[str, str] = {}
        problems: list[Problem] = []
        for index, url in enumerate(urls):
            here = local_path(url)
            target = str(here if here else folder / f"{index:06}")
            if here is None and (error := self._shell("-get", url, target)):
                problems.append(Problem(url, error, again=True))
            else:
                paths[url] = target
        return paths, problems

    def store(self, folder: Path, url: str) -> str:
        """Moves a folder to a new one, of this attempt alone, below `url`; gives its URL."""
        place = f"{url}/{uuid.uuid4().hex}"
        if here := local_path(place):
            here.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(folder, here)
        else:
            error = self._shell("-mkdir", "-p", url) or self._shell("-put", str(folder), place)
            if error:
                raise OSError(f"cannot write {place}: {error}")
        return place

    def _shell(self, *arguments: str) -> str | None:
        """Runs `hadoop fs` with Spark's classes; gives what it says if it fails."""
        import pyspark

        home = os.environ.get("SPARK_HOME") or os.path.dirname(pyspark.__file__)
        java = os.path.join(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
        with tempfile.TemporaryDirectory() as folder:
            # Files that only their owner reads: keys of object stores are among the settings. The empty one is for where there is no
            # other: Hadoop wants one.
            Path(folder, "settings.xml").write_text(self._configuration())
            Path(folder, "core-site.xml").write_text("<configuration/>")
            classes = [os.environ.get("HADOOP_CONF_DIR"), f"{home}/jars/*", os.environ.get("SPARK_DIST_CLASSPATH"), folder]
            command = [
                java,
                "-Xmx96m",
                "-XX:+UseSerialGC",
                "-cp",
                ":".join(filter(None, classes)),
                "org.apache.hadoop.fs.FsShell",
            ]
            result = subprocess.run(
                [*command, "-conf", f"{folder}/settings.xml", *arguments], capture_output=True, text=True, errors="replace"
            )
        if result.returncode == 0:
            return None
        lines = [line for line in result.stderr.splitlines() if " WARN " not in line and not line.startswith(("SLF4J", "\t"))]
        return " ".join(lines[:2]).removeprefix(f"{arguments[0].lstrip('-')}: ") or f"exit status {result.returncode}"

    def _configuration(self) -> str:
        properties = (
            f"<property><name>{escape(name)}</name><value>{escape(value)}</value></property>" for name, value in self.settings.items()
        )
        return f"<configuration>{''.join(properties)}</configuration>"

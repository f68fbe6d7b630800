"""The output's file system, as the driver sees it, through Spark's own classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .errors import Refusal

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class Storage:
    """Small files, renames and deletions. Every write is whole or not at all: a temporary name, then a rename."""

    def __init__(self, spark: SparkSession, root: str) -> None:
        self._jvm = spark.sparkContext._jvm
        path = self._jvm.org.apache.hadoop.fs.Path(root)
        self._fs = path.getFileSystem(spark.sparkContext._jsc.hadoopConfiguration())
        #: The full URL.
        self.root: str = self._fs.makeQualified(path).toString()

    def _path(self, name: str):
        return self._jvm.org.apache.hadoop.fs.Path(f"{self.root}/{name}" if name else self.root)

    def exists(self, name: str) -> bool:
        return self._fs.exists(self._path(name))

    def is_empty(self) -> bool:
        """Whether nothing is there: no folder, or none with anything in it."""
        return not self.exists("") or not self._fs.listStatus(self._path(""))

    def names(self, name: str) -> list[str]:
        """What is in a folder, sorted; nothing if there is none."""
        return sorted(status.getPath().getName() for status in self._fs.listStatus(self._path(name))) if self.exists(name) else []

    def read(self, name: str) -> str:
        stream = self._fs.open(self._path(name))
        try:
            return self._jvm.org.apache.commons.io.IOUtils.toString(stream, "UTF-8")
        finally:
            stream.close()

    def write(self, name: str, text: str) -> None:
        temporary = f"{name}.new"
        self._write(temporary, text, True)
        self.delete(name)
        self._fs.rename(self._path(temporary), self._path(name))

    def claim(self, name: str) -> bool:
        """Makes a file that must not be there; whether it was not."""
        try:
            self._write(name, "", False)
        except Exception as error:
            if "FileAlreadyExists" in str(error) or "already exists" in str(error):
                return False
            raise
        return True

    def _write(self, name: str, text: str, overwrite: bool) -> None:
        try:
            stream = self._fs.create(self._path(name), overwrite)
            stream.write(bytearray(text.encode()))
            stream.close()
        except Exception as error:
            if "FileAlreadyExists" in str(error):
                raise
            reason = str(getattr(error, "java_exception", error)).splitlines()[0]
            raise Refusal(f"cannot write {self.root}/{name}: {reason}") from error

    def move(self, source: str, name: str) -> None:
        """Renames a file, which may have been renamed before."""
        target = self._path(name)
        self._fs.mkdirs(target.getParent())
        if not self._fs.rename(self._jvm.org.apache.hadoop.fs.Path(source), target) and not self._fs.exists(target):
            raise Refusal(f"cannot rename {source} to {self.root}/{name}; run this again to go on")

    def delete(self, name: str) -> None:
        self._fs.delete(self._path(name), True)

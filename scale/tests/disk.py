"""An output on this machine's disk, without Spark: what `Storage` does, and failures on request."""

from __future__ import annotations

import shutil
from pathlib import Path


class Disk:
    """The same methods as `frametap_spark.storage.Storage` has."""

    def __init__(self, folder: Path) -> None:
        self.root = f"file:{folder}"
        self._folder = folder
        #: After how many moves the next one fails, and how.
        self.failure: tuple[int, BaseException] | None = None

    def exists(self, name: str) -> bool:
        return (self._folder / name).exists()

    def is_empty(self) -> bool:
        return not any(self._folder.iterdir())

    def names(self, name: str) -> list[str]:
        return sorted(path.name for path in (self._folder / name).iterdir()) if self.exists(name) else []

    def read(self, name: str) -> str:
        return (self._folder / name).read_text()

    def write(self, name: str, text: str) -> None:
        (self._folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self._folder / name).write_text(text)

    def claim(self, name: str) -> bool:
        if self.exists(name):
            return False
        self.write(name, "")
        return True

    def move(self, source: str, name: str) -> None:
        if self.failure:
            left, error = self.failure
            if left == 0:
                raise error
            self.failure = (left - 1, error)
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        # As Hadoop's rename: false if there is nothing to rename.
        path = Path(source.removeprefix("file:"))
        if path.exists():
            path.rename(target)
        assert target.exists(), f"{source} is gone"

    def delete(self, name: str) -> None:
        path = self._folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

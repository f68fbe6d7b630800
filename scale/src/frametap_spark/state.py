"""What an output knows of itself: which files it has read, and what the next run continues with.

A run changes the tables at its end, all at once: it writes down what it will do (`commit.json`), does it, and removes that file.
If it dies in between, the next run does the rest first.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from .errors import Refusal
from .storage import Storage
from .tasks import Group

STATE = "_frametap"


@dataclass
class Manifest:
    """The state after a run."""

    run: int = 0
    shards: int = 0
    #: How everything was decoded: a later run must do the same.
    decoding: list[str] = field(default_factory=list)
    #: Shards that later runs may read again.
    groups: list[dict] = field(default_factory=list)
    end: int | None = None
    horizon: int | None = None
    #: Files of the tables that the next run replaces.
    replaced: list[str] = field(default_factory=list)
    #: Formats that have heartbeats, of those seen.
    heartbeats: list[str] = field(default_factory=list)

    def known_groups(self) -> list[Group]:
        return [Group(**group) for group in self.groups]


@dataclass
class Commit:
    """What a run does at its end. Doing it twice is doing it once."""

    manifest: Manifest
    #: From URLs to names in the output.
    moves: list[tuple[str, str]] = field(default_factory=list)
    #: New small files: names and contents.
    writes: list[tuple[str, str]] = field(default_factory=list)
    deletions: list[str] = field(default_factory=list)


class Output:
    """An output and its state."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def open(self, break_lock: bool = False) -> Manifest:
        """Takes the output for this run, ends what a run before left unfinished, and gives the state."""
        storage = self.storage
        if not storage.is_empty() and not storage.exists(STATE):
            raise Refusal(f"{storage.root} has other content: expected an empty folder, or the output of an earlier run")
        if break_lock:
            storage.delete(f"{STATE}/lock")
        if not storage.claim(f"{STATE}/lock"):
            raise Refusal(f"{storage.root}/{STATE}/lock: another run writes here. If none does, since it was killed, add --break-lock")
        try:
            return self._recover()
        except BaseException:
            # Nobody calls `close` for an output that was not opened.
            storage.delete(f"{STATE}/lock")
            raise

    def _recover(self) -> Manifest:
        """Ends what a run before left unfinished, and gives the state."""
        storage = self.storage
        if storage.exists(f"{STATE}/commit.json"):
            content = json.loads(storage.read(f"{STATE}/commit.json"))
            self.perform(Commit(**{**content, "manifest": Manifest(**content["manifest"])}))
        storage.delete(f"{STATE}/unfinished")
        if storage.exists(f"{STATE}/manifest.json"):
            return Manifest(**json.loads(storage.read(f"{STATE}/manifest.json")))
        return Manifest()

    def close(self) -> None:
        """Gives the output to the next run."""
        # Half a commit needs the files that it has not moved yet: the next run moves them.
        if not self.storage.exists(f"{STATE}/commit.json"):
            self.storage.delete(f"{STATE}/unfinished")
        self.storage.delete(f"{STATE}/lock")

    def files(self) -> dict[str, tuple[int, int | str]]:
        """Every file that was read: its size and when it was modified, in either of the forms of `listing.is_same_time`."""
        known: dict[str, tuple[int, int | str]] = {}
        for name in self.storage.names(f"{STATE}/files"):
            for line in self.storage.read(f"{STATE}/files/{name}").splitlines():
                row = json.loads(line)
                known[row["path"]] = (row["size"], row["modified"])
        return known

    def commit(self, commit: Commit) -> None:
        self.storage.write(f"{STATE}/commit.json", json.dumps(asdict(commit)))
        self.perform(commit)

    def perform(self, commit: Commit) -> None:
        """Deletions come first, so that no row is there twice at any time."""
        for name in commit.deletions:
            self.storage.delete(name)
        for source, name in commit.moves:
            self.storage.move(source, name)
        for name, content in commit.writes:
            self.storage.write(name, content)
        self.storage.write(f"{STATE}/manifest.json", json.dumps(asdict(commit.manifest), indent=1))
        self.storage.delete(f"{STATE}/commit.json")

"""What is asked of formats beside frametap's decoding: what pairs, and who has heartbeats."""

from __future__ import annotations

from dataclasses import dataclass, field

import yaml

from .conditions import Unsupported
from .pairs import Pairing, pairings_of
from .program import Program


@dataclass
class Formats:
    """The formats of a job: those in files by their names, all others as frametap shows them."""

    program: Program
    #: Format files, by the name in them.
    files: dict[str, str] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """A format's file; None if there is none, as for a bare framing rule."""
        return self.files.get(name) or self.program.shown_format(name)

    def pairings(self, names: list[str]) -> tuple[dict[str, list[Pairing]], list[str]]:
        """The pairings of each format, and what is said of those whose round trips are not found."""
        pairings: dict[str, list[Pairing]] = {}
        unsupported: list[str] = []
        for name in names:
            text = self.text(name)
            try:
                pairings[name] = pairings_of(text) if text else []
            except Unsupported as error:
                unsupported.append(f"format {name}: round trips are left out, since they need {error}")
        return pairings, unsupported

    def with_heartbeats(self, names: list[str]) -> list[str]:
        """Those that have a heartbeat contract."""
        overrides = [option.partition("=")[2] for option in self.program.options if option.startswith("--heartbeat=")]
        if "none" in overrides:
            return []
        if any("when" in override for override in overrides):
            return names
        return [name for name in names if has_heartbeat(self.text(name))]


def has_heartbeat(text: str | None) -> bool:
    """Whether a format file says when heartbeats are due."""
    return bool(text) and bool(next(iter(yaml.safe_load_all(text))).get("heartbeat"))


def name_of(text: str) -> str:
    """The name in a format file."""
    return str(next(iter(yaml.safe_load_all(text)))["format"])

"""What is told to people."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass


class Refusal(Exception):
    """The run cannot begin or go on, and why; nothing was changed."""


@dataclass(frozen=True)
class Problem:
    """Something that could not be read, and where; the run continues without it."""

    file: str
    message: str

    def as_row(self) -> dict[str, str]:
        return asdict(self)


def say(message: str) -> None:
    """Diagnostics go to standard error."""
    print(f"frametap-spark: {message}", file=sys.stderr, flush=True)

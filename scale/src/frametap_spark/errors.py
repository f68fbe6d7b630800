"""What is told to people."""

from __future__ import annotations

import sys
import traceback
from dataclasses import dataclass
from pathlib import Path


class Refusal(Exception):
    """The run cannot begin or go on, and why; nothing was changed."""


@dataclass(frozen=True)
class Problem:
    """Something that could not be read, and where; the run continues without it."""

    file: str
    message: str
    #: Whether nothing of the file could be read: the next run tries it again.
    again: bool = False

    def as_row(self) -> dict[str, str]:
        return {"file": self.file, "message": self.message}


def say(message: str) -> None:
    """Diagnostics go to standard error."""
    print(f"frametap-spark: {message}", file=sys.stderr, flush=True)


def one_line(error: Exception) -> str:
    """An error that nobody expected, and where it was raised, in a line."""
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if Path(frame.filename).parent == Path(__file__).parent]
    place = f" at {Path(own[-1].filename).name}:{own[-1].lineno}" if own else ""
    # Spark's errors have the stack of Java in their text; their first line says what was wrong.
    lines = str(getattr(error, "java_exception", None) or error).splitlines()
    return f"unexpected {type(error).__name__}{place}: {lines[0] if lines else 'no message'}"

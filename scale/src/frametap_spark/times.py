"""Times in nanoseconds since 1970, and as frametap writes them: RFC 3339, UTC, nine decimals."""

from __future__ import annotations

from datetime import datetime, timezone

SECOND = 10**9

#: What frametap's times can be: 64 bits.
FIRST, LAST = -(2**63), 2**63 - 1


def text(nanoseconds: int) -> str:
    """`2026-11-21T08:00:00.000012345Z`"""
    seconds, rest = divmod(max(FIRST, min(LAST, nanoseconds)), SECOND)
    return f"{datetime.fromtimestamp(seconds, timezone.utc):%Y-%m-%dT%H:%M:%S}.{rest:09}Z"


def nanoseconds(text: str) -> int:
    """The reverse."""
    return int(datetime.fromisoformat(f"{text[:19]}+00:00").timestamp()) * SECOND + int(text[20:29])

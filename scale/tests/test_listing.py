"""What is new, and what has changed: by size and time of modification, in whatever zone a run is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime, timezone

import pytest

from frametap_spark.listing import InputFile, is_same_time, news

#: 2026-11-21 08:00:00.123456 UTC.
MODIFIED = 1_795_248_000_123_456


@pytest.fixture
def zone(monkeypatch) -> Iterator:
    """Sets this process's time zone, until the test is over."""

    def set_zone(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()

    yield set_zone
    monkeypatch.undo()
    time.tzset()


def old_form(zone, name: str) -> str:
    """As the first version wrote it, in that zone."""
    zone(name)
    return datetime.fromtimestamp(MODIFIED // 10**6).replace(microsecond=MODIFIED % 10**6).isoformat()


def test_the_time_that_the_tests_have() -> None:
    assert datetime.fromtimestamp(MODIFIED / 10**6, timezone.utc).isoformat() == "2026-11-21T08:00:00.123456+00:00"


@pytest.mark.parametrize("later", ["UTC", "Asia/Kathmandu", "America/New_York"])
def test_a_run_in_another_zone_changes_nothing(zone, later: str) -> None:
    file = InputFile("file:/a.pcap", 24, MODIFIED)
    zone(later)
    assert news([file], {file.path: (24, MODIFIED)}) == ([], [])


@pytest.mark.parametrize("earlier", ["UTC", "Asia/Kathmandu", "America/New_York", "Pacific/Kiritimati"])
@pytest.mark.parametrize("later", ["UTC", "Asia/Tokyo"])
def test_times_of_earlier_versions(zone, earlier: str, later: str) -> None:
    known = old_form(zone, earlier)
    zone(later)
    assert is_same_time(known, MODIFIED)
    # No zone explains a second, nor days.
    assert not is_same_time(known, MODIFIED + 1_000_000)
    assert not is_same_time(known, MODIFIED + 3 * 86_400_000_000)


@pytest.mark.parametrize(
    ("known", "same"),
    [
        ("2026-11-21T08:00:00.123456+00:00", True),
        ("2026-11-21T09:00:00.123456+01:00", True),
        ("2026-11-21T09:00:00.123456+00:00", False),
        ("2026-11-21T08:00:00", False),
        ("last week", False),
        ("", False),
    ],
)
def test_other_text(known: str, same: bool) -> None:
    assert is_same_time(known, MODIFIED) == same


def test_what_changed_is_said_in_utc(zone) -> None:
    zone("Asia/Tokyo")
    file = InputFile("file:/a.pcap", 25, MODIFIED + 1)
    new = InputFile("file:/b.pcap", 24, MODIFIED)
    fresh, problems = news([file, new], {file.path: (24, MODIFIED)})
    assert fresh == [new]
    assert [problem.message for problem in problems] == [
        "changed since it was read: expected 24 bytes, modified 2026-11-21T08:00:00.123456Z, found 25, 2026-11-21T08:00:00.123457Z; "
        "it is not read again. Give what was added as a file of its own"
    ]
    assert news([file], {file.path: (25, MODIFIED)})[1], "another time is another file"

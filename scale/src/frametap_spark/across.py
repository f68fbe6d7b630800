"""Findings across connections, which no shard sees whole: made of the tables, of rows in order of time.

`reconnect-storm` is frametap's own (docs/analyses.md), by the same rules. `shared-outage` and `malformed-client` are only here.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

SECOND = 10**9

#: A connection that opens this soon after the end of another is a reconnect; so many of them within a time are a storm.
PAUSE, RECONNECTS, WINDOW = 2 * SECOND, 5, 60 * SECOND

#: So many clients of one server, whose heartbeats the network kept back in the same time, share an outage.
CLIENTS = 3

#: A client that sent bytes that are no frame on so many connections does that whenever it connects.
MALFORMED = 3


class Finding(NamedTuple):
    """A row of `findings`."""

    connection: str
    sender: str
    time_ns: int
    kind: str
    message: str
    data: str


class Event(NamedTuple):
    """A connection's opening or end: at the same time, ends come first."""

    client: str
    server: str
    time_ns: int
    is_opening: bool
    connection: str


#: Openings and ends as Event has them, of the table `connections`; {contract} are the formats that have heartbeats.
EVENTS = """
select client_address as client, server, opened_ns as time_ns, true as is_opening, connection from connections
where handshake and {counts}
union all
select client_address, server, closed_ns, false, connection from connections
where {counts} and reason not in ('end-of-input', 'evicted') and not (reason = 'fin' and (closed_by = 'client'
    or (coalesce(format, '') not in ({contract}) and client_bytes > 0 and server_bytes > 0)))
"""
COUNTS = "server_address not in ('0.0.0.0', '[::]', '::') and leg is distinct from 'out'"

#: Gaps that the network is blamed for, as `outages` takes them: when they began, and when they were over.
GAPS = """
select c.server, f.time_ns - cast(cast({data} as double) * 1e9 as bigint) as began_ns, f.time_ns, c.client_address as client,
    f.connection
from findings f join connections c on c.connection = f.connection and c.leg is not distinct from f.leg
where f.kind in ('heartbeat-resumed', 'heartbeat-stopped') and {blame} = 'network'
"""

#: Connections on which the client sent bytes that are no frame, as `malformed` takes them.
MALFORMED_CONNECTIONS = """
select c.client_address as client, c.server, min(f.time_ns) as time_ns, f.connection
from findings f join connections c on c.connection = f.connection and c.leg is not distinct from f.leg
where f.kind = 'unframed' and f.sender = 'client' and {reason} in ('bad-head', 'bad-length', 'too-long', 'no-sync')
group by c.client_address, c.server, f.connection
"""


def events_sql(contract: list[str]) -> str:
    """EVENTS with the names of the formats that have heartbeats."""
    names = ", ".join("'" + name.replace("'", "''") + "'" for name in contract) or "''"
    return EVENTS.format(counts=COUNTS, contract=names)


def storms(events: Iterable[Event]) -> Iterator[Finding]:
    """Clients that lose their connection and reconnect at once, again and again. Events are in order of all their columns."""
    for (client, server), group in groupby(events, key=lambda event: (event[0], event[1])):
        ended: deque[int] = deque(maxlen=64)
        reconnects: deque[tuple[int, str]] = deque(maxlen=RECONNECTS)
        quiet_until: int | None = None
        for _, _, time, is_opening, connection in group:
            while ended and time - ended[0] > PAUSE:
                ended.popleft()
            if not is_opening:
                ended.append(time)
                continue
            if not ended:
                continue
            ended.pop()
            reconnects.append((time, connection))
            span = time - reconnects[0][0]
            if len(reconnects) < RECONNECTS or span > WINDOW:
                continue
            goes_on = quiet_until is not None and time <= quiet_until
            quiet_until = time + WINDOW
            if not goes_on:
                data = {
                    "reconnects": RECONNECTS,
                    "within": span / SECOND,
                    "client": client,
                    "server": server,
                    "firstConnection": reconnects[0][1],
                }
                yield Finding(
                    connection,
                    "client",
                    time,
                    "reconnect-storm",
                    f"reconnect storm: {client} reconnected to {server} {RECONNECTS} times in {span / SECOND:.1f} s, each time immediately",
                    json.dumps(data),
                )


def outages(gaps: Iterable[tuple[str, int, int, str, str]]) -> Iterator[Finding]:
    """Gaps of several clients that overlap: not one device's network, but what they share. Gaps are in order of all columns."""
    for server, group in groupby(gaps, key=lambda gap: gap[0]):
        together: list[tuple[str, int, int, str, str]] = []
        latest = 0
        for gap in group:
            if together and gap[1] > latest:
                yield from _outage(server, together)
                together = []
            latest = max(latest, gap[2]) if together else gap[2]
            together.append(gap)
        yield from _outage(server, together)


def _outage(server: str, gaps: list[tuple[str, int, int, str, str]]) -> Iterator[Finding]:
    clients = sorted({gap[3] for gap in gaps})
    if len(clients) < CLIENTS:
        return
    began, ended = min(gap[1] for gap in gaps), max(gap[2] for gap in gaps)
    data = {"server": server, "clients": len(clients), "gaps": len(gaps), "lasted": (ended - began) / SECOND}
    yield Finding(
        gaps[0][4],
        "client",
        began,
        "shared-outage",
        f"shared outage: the network kept back heartbeats of {len(clients)} clients of {server} at the same time",
        json.dumps(data),
    )


def malformed(rows: Iterable[tuple[str, str, int, str]]) -> Iterator[Finding]:
    """Clients that send bytes that are no frame on several connections. Rows are in order of all columns."""
    for (client, server), group in groupby(rows, key=lambda row: (row[0], row[1])):
        connections = list(group)
        if len(connections) < MALFORMED:
            continue
        _, _, time, connection = connections[0]
        yield Finding(
            connection,
            "client",
            time,
            "malformed-client",
            f"{client} sent {server} bytes that are no frame on {len(connections)} connections",
            json.dumps({"client": client, "server": server, "connections": len(connections)}),
        )

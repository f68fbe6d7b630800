"""Requests and their answers, matched as `frametap report` does: by the format's `pairs`, and heartbeats with their answers.

A trace says which requests have no answer, not which answer belongs to which request, so that is found here, by the same rules
(docs/format-files.md#pairs).
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import duckdb
import yaml

from . import schema
from .conditions import Unsupported, as_sql, value

#: How many requests may wait on a connection; then the other side is not in the capture.
MOST_REQUESTS = 1_024
#: How many answers may be earlier in the capture than their requests, and by how many nanoseconds.
MOST_EARLY = 64
EARLY_WITH_ID, EARLY_IN_ORDER = 2_000_000_000, 1_000_000

OTHER = {"client": "server", "server": "client"}


@dataclass(frozen=True)
class Pairing:
    """Which frames are requests and answers; conditions are SQL over `lines`."""

    request: str
    answer: str
    asked_by: str
    #: `order`, or what request and answer have in common, as SQL.
    key: str
    #: Nanoseconds until a request counts as unanswered; None: when the connection ends.
    within: int | None
    optional: bool
    #: Whether `key` identifies a request, and whether it is nothing but the order that matches them.
    identified: bool
    in_order: bool


def pairings_of(format_file: str) -> list[Pairing]:
    """The pairings of a format file. Raises Unsupported for conditions that are not understood."""
    content = next(iter(yaml.safe_load_all(format_file)))
    rules = list(content.get("pairs") or [])
    heartbeat = content.get("heartbeat") or {}
    if isinstance(answer := heartbeat.get("answer"), dict):
        rules.append(
            {
                "request": heartbeat["when"],
                "answer": answer["when"],
                **{key: part[key] for part, key in ((heartbeat, "from"), (answer, "within"), (answer, "by")) if key in part},
            }
        )
    return [_pairing(rule) for rule in rules]


def _pairing(rule: dict) -> Pairing:
    by = str(rule.get("by", "order"))
    if by == "order":
        key = "''"
    elif by == "type":
        key = "coalesce(type, '')"
    else:
        key = "coalesce(body->>'$.text', body->>'$.hex')" if by == "body" else value(by)
    return Pairing(
        as_sql(str(rule["request"])),
        as_sql(str(rule["answer"])),
        str(rule["from"]),
        key,
        _duration(rule.get("within")),
        bool(rule.get("optional", False)),
        by not in ("order", "type"),
        by == "order",
    )


def _duration(text: object) -> int | None:
    if text is None:
        return None
    number, _, unit = str(text).partition(" ")
    scale = {"us": 10**3, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3_600 * 10**9}
    if unit not in scale:
        raise Unsupported(f"the time {text}")
    return int(float(number) * scale[unit])


@dataclass
class _Frame:
    key: str
    time: int
    number: int
    type: str | None


@dataclass
class _Exchange:
    """What waits on one connection, of one pairing."""

    requests: deque[_Frame] = field(default_factory=deque)
    early: list[_Frame] = field(default_factory=list)
    overdue: list[_Frame] = field(default_factory=list)
    lost: bool = False

    def forget(self) -> None:
        """Bytes were lost, and with them perhaps answers."""
        self.requests.clear()
        self.early.clear()
        self.overdue.clear()

    def ask(self, request: _Frame, pairing: Pairing) -> _Frame | None:
        """Takes a request; gives its answer, if that came before."""
        disorder = EARLY_WITH_ID if pairing.identified else EARLY_IN_ORDER
        for answer in self.early:
            if answer.key == request.key and request.time - answer.time <= disorder:
                self.early.remove(answer)
                return answer if request.time <= answer.time else None
        if pairing.identified:
            self.overdue = [frame for frame in self.overdue if frame.key != request.key]
        self.requests.append(request)
        if len(self.requests) > MOST_REQUESTS:
            self.lost = True
            self.requests.clear()
        return None

    def answer(self, answer: _Frame, pairing: Pairing, handshake: bool) -> _Frame | None:
        """Takes an answer; gives its request."""
        self._expire(answer.time, pairing)
        for request in self.requests:
            if request.key == answer.key:
                self.requests.remove(request)
                return request
        if not handshake and not self.requests:
            return None
        if pairing.within is not None and not pairing.identified:
            # If only the order matches them, one long overdue was not answered at all.
            self.overdue = [frame for frame in self.overdue if answer.time - frame.time <= 10 * pairing.within]
        for request in self.overdue:
            if request.key == answer.key:
                self.overdue.remove(request)
                return request
        if not pairing.optional and len(self.early) < MOST_EARLY:
            self.early.append(answer)
        return None

    def _expire(self, time: int, pairing: Pairing) -> None:
        self.early = [frame for frame in self.early if time <= frame.time + EARLY_WITH_ID]
        if pairing.within is None:
            return
        while self.requests and self.requests[0].time + pairing.within < time:
            self.overdue.append(self.requests.popleft())


def find_round_trips(connection: duckdb.DuckDBPyConnection, pairings: dict[str, list[Pairing]], scratch: Path) -> None:
    """Makes the table `trips` of `lines`, with the columns of schema.TRIP. `pairings` are those of each format; `scratch` is a file.

    Where each request is followed by its answer, SQL finds the pairs. What is left goes through Python, frame by frame.
    """
    columns = ", ".join(f"{name} {kind}" for name, kind in schema.TRIP.items())
    connection.execute(f"create or replace temp table trips ({columns})")
    for name, rules in pairings.items():
        for rule in rules:
            connection.execute(f"create or replace temp table steps as {STEPS.format(**_conditions(rule))}", [name])
            connection.execute(f"create or replace temp table hard as {_hard(rule)}")
            connection.execute(f"insert into trips {EASY.format(asked_by=rule.asked_by)}")
            _insert(connection, _matched(connection, rule), scratch)
    connection.execute("drop table if exists steps; drop table if exists hard")


#: Frames that ask or answer, each with what came before it, of the same key.
STEPS = """
select *, lag(asks) over same as asked, lag("index") over same as asked_index, lag(type) over same as asked_type,
    lag(ns) over same as asked_ns, lag(place) over same as asked_place
from (
    select place, connection, "index", type, ns, asks, key from (
        select place, connection, "index", type, ns, "from" = '{asked_by}' and {request} as asks,
            "from" = '{answered_by}' and {answer} as answers, {key} as key
        from lines where event = 'frame' and leg is distinct from 'out' and connection in (
            select connection from lines where event = 'format' group by connection having max(format) = ?))
    where (asks or answers) and key is not null)
window same as (partition by connection, key order by place)
"""

#: Connections of which more has to be known: bytes were lost between request and answer, the beginning was not seen, or requests
#: and answers do not alternate.
HARD = """
with lost as (select connection, place from lines where event in ('missing', 'unframed') and leg is distinct from 'out'),
answers as (select * from steps where not asks and connection in (select connection from lost))
select answers.connection from answers asof join lost on lost.connection = answers.connection and lost.place < answers.place
    where lost.place > answers.asked_place
union
select connection from steps group by connection
    having not bool_and(asks <> coalesce(asked, false) and (asks or {in_time})) or not ({few})
union
select connection from steps where connection not in (
    select connection from lines where event = 'opened' group by connection having max(handshake))
"""

EASY = """
select connection, asked_type, type, '{asked_by}', asked_index, "index", asked_ns, ns - asked_ns
from steps where not asks and connection not in (from hard)
"""


def _conditions(rule: Pairing) -> dict[str, str]:
    return {
        "asked_by": rule.asked_by,
        "answered_by": OTHER[rule.asked_by],
        "request": rule.request,
        "answer": rule.answer,
        "key": rule.key,
    }


def _hard(rule: Pairing) -> str:
    """HARD for a pairing. An answer in time is the request's, whatever else waits; if it is late, that depends on the others."""
    in_time = "true" if rule.within is None else f"ns - asked_ns <= {rule.within}"
    if rule.in_order:
        return HARD.format(in_time=in_time, few="true")
    # Requests with other keys wait, too, and all are forgotten if there are too many. By type, late ones are forgotten for others.
    return HARD.format(in_time=in_time, few=f"count(*) filter (asks) <= {MOST_REQUESTS}" if rule.identified else "false")


def _insert(connection: duckdb.DuckDBPyConnection, trips: Iterator[tuple], scratch: Path) -> None:
    """Adds rows to `trips`, through a file: much faster than one by one."""
    with scratch.open("w") as file:
        file.writelines(json.dumps(dict(zip(schema.TRIP, trip, strict=True))) + "\n" for trip in trips)
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in schema.TRIP.items())
    if scratch.stat().st_size:
        connection.execute(
            f"insert into trips select * from read_json('{scratch}', format = 'newline_delimited', auto_detect = false, "
            f"columns = {{{columns}}})"
        )


def _matched(connection: duckdb.DuckDBPyConnection, rule: Pairing) -> Iterator[tuple]:
    """The round trips of the connections in `hard`."""
    cursor = connection.execute(
        "with opened as (select connection, max(handshake) as handshake from lines where event = 'opened' group by connection), "
        "roles as (select place, connection, 'frame' as event, \"index\", type, ns, asks, key from steps union all "
        "select place, connection, event, null, null, ns, null, null from lines "
        "where event in ('missing', 'unframed', 'closed') and leg is distinct from 'out') "
        'select connection, handshake, event, "index", type, ns, asks, key from roles join opened using (connection) '
        "where connection in (select connection from steps where connection in (from hard)) order by place"
    )
    exchanges: dict[int, _Exchange] = {}
    while rows := cursor.fetchmany(10_000):
        for number, handshake, event, index, type_, time, asks, key in rows:
            if event == "closed":
                exchanges.pop(number, None)
                continue
            exchange = exchanges.setdefault(number, _Exchange())
            if event != "frame":
                exchange.forget()
            elif not exchange.lost:
                frame = _Frame(key, time, index, type_)
                found = exchange.ask(frame, rule) if asks else exchange.answer(frame, rule, handshake)
                if found:
                    request, answer = (frame, found) if asks else (found, frame)
                    yield (
                        number,
                        request.type,
                        answer.type,
                        rule.asked_by,
                        request.number,
                        answer.number,
                        request.time,
                        answer.time - request.time,
                    )

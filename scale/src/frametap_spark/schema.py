"""The tables: their columns, and how they follow from a trace's lines. docs/scale.md has the same list for readers."""

from __future__ import annotations

#: The keys of a trace's lines (docs/trace.md) that end up in tables, and DuckDB's types for them.
LINE = {
    "event": "VARCHAR",
    "connection": "BIGINT",
    "leg": "VARCHAR",
    "from": "VARCHAR",
    "index": "BIGINT",
    "time": "VARCHAR",
    "started": "VARCHAR",
    "offset": "BIGINT",
    "length": "BIGINT",
    "missing": "BIGINT",
    "segments": "BIGINT",
    "merged": "BOOLEAN",
    "type": "VARCHAR",
    "heartbeat": "BOOLEAN",
    "fields": "JSON",
    "body": "JSON",
    "client": "JSON",
    "server": "JSON",
    "handshake": "BOOLEAN",
    "clientGuessed": "BOOLEAN",
    "format": "VARCHAR",
    "by": "VARCHAR",
    "kind": "VARCHAR",
    "severity": "VARCHAR",
    "message": "VARCHAR",
    "data": "JSON",
    "reason": "VARCHAR",
    "detail": "VARCHAR",
    "hex": "VARCHAR",
}

#: The keys that only a few lines have, which are read once more for them: the lines, and their keys.
RARELY = ("tls", "action")
RARE = {
    "event": "VARCHAR",
    "connection": "BIGINT",
    "leg": "VARCHAR",
    "from": "VARCHAR",
    "time": "TIMESTAMP_NS",
    "index": "BIGINT",
    "offset": "BIGINT",
    "length": "BIGINT",
    "type": "VARCHAR",
    "detail": "VARCHAR",
    "decrypted": "VARCHAR",
    "version": "VARCHAR",
    "suite": "VARCHAR",
    "serverName": "VARCHAR",
    "protocol": "VARCHAR",
    "clientRandom": "VARCHAR",
    "resumed": "BOOLEAN",
    "certificate": "JSON",
    "rule": "VARCHAR",
    "action": "VARCHAR",
    "passed": "BIGINT",
    "proven": "BOOLEAN",
    "before": "VARCHAR",
    "after": "VARCHAR",
}


def nanoseconds(column: str) -> str:
    """Nanoseconds since 1970 of a time in a trace."""
    return f"epoch_ns(cast({column} as timestamp_ns))"


def timestamp(column: str) -> str:
    """A timestamp that every reader of Parquet knows, in microseconds, of nanoseconds since 1970."""
    return f"make_timestamptz({column} // 1000)"


def day(column: str) -> str:
    """The day, in UTC, of nanoseconds since 1970: days since then."""
    return f"{column} // 86_400_000_000_000 as day"


#: A row for each connection, and leg where it has two. `number` is the trace's, and no part of any table.
CONNECTIONS = f"""
with opened as (
    select connection as number, min(leg) as leg, first(time) as time, first(ns) as opened_ns, first(client->>'$') as client,
        first(server->>'$') as server, first(handshake) as handshake, first(clientGuessed) as guessed
    from lines where event = 'opened' group by connection),
keyed as (
    select *, time || '-' || substr(md5(client || ' ' || server || ' ' ||
        row_number() over (partition by time, client, server order by number)), 1, 16) as connection
    from opened),
closed as (select * from lines where event = 'closed'),
formats as (select connection, any_value(format) as format, any_value("by") as format_by
    from lines where event = 'format' group by connection),
secured as (select connection, any_value(json_object('decrypted', decrypted, 'version', version, 'suite', suite,
        'serverName', serverName, 'protocol', protocol, 'clientRandom', clientRandom, 'resumed', resumed,
        'certificate', certificate)) as tls
    from rare where event = 'tls' group by connection)
select keyed.number, keyed.connection, closed.leg, keyed.client, keyed.server,
    regexp_replace(keyed.client, ':[0-9]+$', '') as client_address, regexp_replace(keyed.server, ':[0-9]+$', '') as server_address,
    {timestamp("opened_ns")} as opened, opened_ns, {timestamp("closed.ns")} as closed,
    closed.ns as closed_ns, keyed.handshake, keyed.guessed as client_guessed, formats.format,
    formats.format_by, secured.tls, closed.reason, closed."by" as closed_by, closed.detail,
    {
    ", ".join(
        f"cast(closed.{side}->>'$.{count}' as bigint) as {side}_{count}"
        for side in ("client", "server")
        for count in ("bytes", "framed", "unframed", "padding", "missing", "frames")
    )
},
    {day("opened_ns")}
from keyed join closed on closed.connection = keyed.number
left join formats on formats.connection = keyed.number left join secured on secured.connection = keyed.number
"""

FRAMES = f"""
select c.connection, l.leg, l."from" as sender, l."index" as number, {timestamp("l.ns")} as time, l.ns as time_ns,
    l.started_ns, l."offset" as stream_offset, l.length, l.missing, l.segments, l.merged, l.type,
    l.heartbeat, cast(l.fields as varchar) as fields, cast(l.body as varchar) as body, c.final, {day("l.ns")}
from (select * from lines where event = 'frame') l join known c on c.number = l.connection
"""

#: Numbers of packets and connections are those of one trace, and mean nothing in a table. Removed with one comma beside them.
NUMBER = '"(packet|lastPacket|requestPacket|oldestPacket|sentPacket)":[0-9]+'
NUMBERS = f"{NUMBER},|,?{NUMBER}"

#: Findings, and whatever else a trace says of a connection. Those across connections (across.py) are made of the tables.
FINDINGS = f"""
select c.connection, l.leg, l.sender, {timestamp("l.time_ns")} as time, l.time_ns, l.kind, l.severity, l.message,
    case l.event
        when 'finding' then regexp_replace(l.data, '{NUMBERS}', '', 'g')
        when 'missing' then cast(json_object('offset', l."offset", 'length', l.length) as varchar)
        when 'action' then l.data
        else cast(json_object('offset', l."offset", 'length', l.length, 'reason', l.reason, 'detail', l.detail, 'hex', l.hex) as varchar)
    end as data, c.final, {day("l.time_ns")}
from (
    select connection, event, leg, "from" as sender, ns as time_ns, coalesce(kind, event) as kind,
        case when event = 'finding' then severity else 'info' end as severity, message, cast(data as varchar) as data,
        "offset", length, reason, detail, hex
    from lines where event in ('finding', 'missing', 'unframed', 'dropped') and kind is distinct from 'reconnect-storm'
    union all
    select connection, event, leg, "from", epoch_ns(time), event, 'info', null, cast(json_object('rule', rule, 'action', action,
        'index', "index", 'type', type, 'offset', "offset", 'length', length, 'passed', passed, 'detail', detail, 'proven', proven,
        'before', before, 'after', after) as varchar), null, null, null, null, null
    from rare where event = 'action') l
join known c on c.number = l.connection
"""

ROUND_TRIPS = f"""
select c.connection, c.format, t.request, t.answer, t.asked_by, t.request_number, t.answer_number,
    {timestamp("t.time_ns")} as time, t.time_ns, t.took_ns, t.took_ns / 1e9 as took, c.final, {day("t.time_ns")}
from trips t join known c on c.number = t.number
"""

#: What is read of a trip before it is a row: see pairs.py.
TRIP = {
    "number": "BIGINT",
    "request": "VARCHAR",
    "answer": "VARCHAR",
    "asked_by": "VARCHAR",
    "request_number": "BIGINT",
    "answer_number": "BIGINT",
    "time_ns": "BIGINT",
    "took_ns": "BIGINT",
}

TABLES = ("connections", "frames", "findings", "round_trips")

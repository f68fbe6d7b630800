"""The tables as they follow from a trace's lines (docs/trace.md), in SQL: what frametap's own tables are compared with."""

from __future__ import annotations

from pathlib import Path

import duckdb

#: The keys of a trace's lines that end up in tables, and DuckDB's types for them.
KEYS = {
    **dict.fromkeys(("event", "leg", "from", "time", "started", "type", "format", "by", "kind", "severity", "message"), "VARCHAR"),
    **dict.fromkeys(("reason", "detail", "hex", "decrypted", "version", "suite", "serverName", "protocol"), "VARCHAR"),
    **dict.fromkeys(("clientRandom", "rule", "action", "before", "after"), "VARCHAR"),
    **dict.fromkeys(("connection", "index", "offset", "length", "segments", "passed"), "BIGINT"),
    **dict.fromkeys(("merged", "heartbeat", "handshake", "clientGuessed", "resumed", "proven"), "BOOLEAN"),
    **dict.fromkeys(("fields", "body", "client", "server", "data", "certificate"), "JSON"),
}

#: How much of a run of unframed bytes, in hex, the tables keep.
HEX = 8_192

#: Numbers of packets and connections are those of one trace. Removed with one comma beside them.
NUMBER = '"(packet|lastPacket|requestPacket|oldestPacket|sentPacket|firstConnection)":[0-9]+'
NUMBERS = f"{NUMBER},|,?{NUMBER}"


def _time(column: str) -> str:
    return f"make_timestamptz({column} // 1000)"


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
    from lines where event = 'tls' group by connection)
select keyed.number, keyed.connection, closed.leg, keyed.client, keyed.server,
    regexp_replace(keyed.client, ':[0-9]+$', '') as client_address, regexp_replace(keyed.server, ':[0-9]+$', '') as server_address,
    {_time("opened_ns")} as opened, opened_ns, {_time("closed.ns")} as closed,
    closed.ns as closed_ns, keyed.handshake, keyed.guessed as client_guessed, formats.format,
    formats.format_by, secured.tls, closed.reason, closed."by" as closed_by,
    {
    ", ".join(
        f"cast(closed.{side}->>'$.{count}' as bigint) as {side}_{count}"
        for side in ("client", "server")
        for count in ("bytes", "framed", "unframed", "padding", "missing", "frames")
    )
}
from keyed join closed on closed.connection = keyed.number
left join formats on formats.connection = keyed.number left join secured on secured.connection = keyed.number
"""

FRAMES = f"""
select c.connection, l.leg, l."from" as sender, l."index" as number, {_time("l.ns")} as time, l.ns as time_ns,
    l.started_ns, l."offset" as stream_offset, l.length, cast(l.body->>'$.missing' as bigint) as missing, l.segments, l.merged, l.type,
    l.heartbeat, cast(l.fields as varchar) as fields, cast(l.body as varchar) as body
from (select * from lines where event = 'frame') l join known c on c.number = l.connection
"""

FINDINGS = f"""
select c.connection, l.leg, l."from" as sender, {_time("l.ns")} as time, l.ns as time_ns, coalesce(l.kind, l.event) as kind,
    case when l.event = 'finding' then severity else 'info' end as severity, l.message,
    case l.event
        when 'finding' then regexp_replace(cast(l.data as varchar), '{NUMBERS}', '', 'g')
        when 'missing' then cast(json_object('offset', l."offset", 'length', l.length) as varchar)
        when 'action' then cast(json_object('rule', rule, 'action', action, 'index', "index", 'type', type, 'offset', "offset",
            'length', length, 'passed', passed, 'detail', detail, 'proven', proven, 'before', before, 'after', after) as varchar)
        else cast(json_object('offset', l."offset", 'length', l.length, 'reason', l.reason, 'detail', l.detail,
            'hex', left(l.hex, {HEX})) as varchar)
    end as data
from lines l join known c on c.number = l.connection where l.event in ('finding', 'missing', 'unframed', 'dropped', 'action')
"""


def views(trace: Path) -> duckdb.DuckDBPyConnection:
    """The views `connections`, `frames` and `findings` of a trace that `frametap decode --as ndjson` printed."""
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    columns = ", ".join(f"'{name}': '{kind}'" for name, kind in KEYS.items())
    lines = (
        f"read_json('{trace}', format = 'newline_delimited', auto_detect = false, maximum_object_size = 8388608, columns = {{{columns}}})"
    )
    ns = "epoch_ns(cast({} as timestamp_ns))"
    connection.execute(f"create table lines as select *, {ns.format('time')} as ns, {ns.format('started')} as started_ns from {lines}")
    connection.execute(f"create table all_connections as {CONNECTIONS}")
    connection.execute("create view known as select distinct number, connection from all_connections")
    connection.execute("create view connections as select * exclude (number) from all_connections")
    connection.execute(f"create view frames as {FRAMES}")
    connection.execute(f"create view findings as {FINDINGS}")
    return connection

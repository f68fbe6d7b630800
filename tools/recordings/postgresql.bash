# shellcheck shell=bash disable=SC2034,SC2154
# PostgreSQL: its simple protocol with psql, its extended one with pgbench.

# It keeps its server's programs off the PATH.
postgres_folder() { printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1; }

needs_postgresql() {
    [ -x "$(postgres_folder)/pgbench" ] || lacks "PostgreSQL's server" postgresql -
    need_command psql postgresql-client -
}

record_postgresql() {
    local bin data="$work/data"
    bin="$(postgres_folder)"
    # PostgreSQL does not run as root.
    install -d -o postgres "$data"
    echo secret >"$work/password"
    chmod 644 "$work/password"
    runuser -u postgres -- "$bin/initdb" -D "$data" -A scram-sha-256 --pwfile="$work/password" -E UTF8 --locale=C \
        >"$work/initdb.log"
    runuser -u postgres -- "$bin/postgres" -D "$data" -h 127.0.0.1 -p 5432 -k "$data" -c fsync=off -c ssl=off \
        2>"$work/postgres.log" &
    server=$!
    wait_until "$bin/pg_isready" -h 127.0.0.1 -p 5432
    export PGPASSWORD=secret PGHOST=127.0.0.1 PGUSER=postgres PGSSLMODE=prefer
    record postgresql 5432
    # An error ends no session; \copy goes both ways.
    psql -X -q -v ON_ERROR_STOP=0 >/dev/null 2>&1 <<'SQL'
CREATE TABLE readings (id int PRIMARY KEY, place text, value numeric);
INSERT INTO readings VALUES (1, 'Zürich', 21.5), (2, NULL, -3);
SELECT * FROM readings ORDER BY id;
SELECT * FROM there_is_no_such_table;
PREPARE warm (numeric) AS SELECT place FROM readings WHERE value > $1;
EXECUTE warm (20);
COPY readings FROM STDIN;
3	Köln	17.25
4	東京	28
\.
COPY readings TO STDOUT;
LISTEN news;
NOTIFY news, 'it is raining';
DO $$ BEGIN RAISE NOTICE 'a notice'; END $$;
SELECT repeat('long ', 1000), generate_series(1, 3);
;
SQL
    # pgbench speaks the extended protocol: Parse, Bind, Describe, Execute, Sync. In a pipeline many lie in one packet.
    cat >"$work/bench.sql" <<'SQL'
\set id random(1, 4)
SELECT value FROM readings WHERE id = :id;
\startpipeline
UPDATE readings SET value = value + 1 WHERE id = :id;
SELECT count(*) FROM readings;
\endpipeline
SQL
    "$bin/pgbench" -M prepared -n -c 1 -t 4 -f "$work/bench.sql" postgres >/dev/null 2>&1
    keep postgresql
}

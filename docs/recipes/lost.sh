# Needs CONTROL (http://host:port) and TOKEN of a proxy with --control and --format line, and SERVER (host:port), which must return each line.
set -euo pipefail
call() { curl -sS --fail-with-body -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' "$@"; }
api=$CONTROL/api/v1/listeners
body='{"name":"sh","to":"'$SERVER'","format":"line","rules":["drop: body.text == \"two\"; once: true"]}'
port=$(call "$api" -d "$body" | sed 's/.*"listen":"[^"]*:\([0-9]*\)".*/\1/')
exec 3<> "/dev/tcp/127.0.0.1/$port"
printf 'one\ntwo\nthree\n' >&3
call -G "$api/sh/wait" --data-urlencode 'when=from == "server" and body.text == "three"' | grep -q '"index":1,'
call -X DELETE "$api/sh"

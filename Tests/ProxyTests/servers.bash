# Starts a server of the tests in a folder of its own, says on which port it listens, and ends with its standard input:
# servers.bash PROGRAM FOLDER
set -eu
program=$1 folder=$2 ready=''
# A port that the system gives to nobody who asks for any (ip_local_port_range): it is still free when the server takes it.
port=$(python3 -c '
import random, socket
while True:
    port = random.randrange(20000, 32000)
    try:
        socket.create_server(("127.0.0.1", port)).close()
        break
    except OSError:
        pass
print(port)')

case ${program##*/} in
redis-server)
    "$program" --port "$port" --bind 127.0.0.1 --save '' --dir "$folder" > "$folder/log" 2>&1 &
    ;;
mosquitto)
    printf 'listener %s 127.0.0.1\nallow_anonymous true\n' "$port" > "$folder/conf"
    "$program" -c "$folder/conf" > "$folder/log" 2>&1 &
    ;;
sshd)
    ssh-keygen -q -t ed25519 -N '' -f "$folder/host"
    ssh-keygen -q -t ed25519 -N '' -f "$folder/key"
    cp "$folder/key.pub" "$folder/authorized"
    # As root it wants a place to be shut in; nobody else has to have one.
    if [ "$(id -u)" -eq 0 ]; then mkdir -p /run/sshd; fi
    "$program" -D -e -f /dev/null -p "$port" -h "$folder/host" -o ListenAddress=127.0.0.1 -o StrictModes=no \
        -o "AuthorizedKeysFile=$folder/authorized" -o UsePAM=no -o "PidFile=$folder/pid" > "$folder/log" 2>&1 &
    ;;
postgres)
    programs=$(dirname "$(realpath "$program")")
    as=()
    # PostgreSQL refuses to run as root.
    if [ "$(id -u)" -eq 0 ]; then
        as=(setpriv --reuid nobody --regid nogroup --clear-groups env HOME="$folder")
        chown nobody "$folder"
    fi
    "${as[@]}" "$programs/initdb" -D "$folder/data" -U tester -A trust > "$folder/initdb" 2>&1
    ready='ready to accept connections'
    "${as[@]}" "$programs/postgres" -c lc_messages=C -D "$folder/data" -p "$port" -k '' -h 127.0.0.1 > "$folder/log" 2>&1 &
    ;;
esac
server=$!
# The tests' own process may have blocked TERM, which is inherited.
trap 'kill -KILL "$server"' EXIT
for _ in $(seq 400); do
    # PostgreSQL listens before it is ready.
    if (exec 3<> "/dev/tcp/127.0.0.1/$port") 2> "$folder/waiting" \
        && { [ -z "$ready" ] || grep -q "$ready" "$folder/log"; }
    then
        echo "$port"
        read -r || true
        exit 0
    fi
    kill -0 "$server"
    sleep 0.05
done
echo "the server does not listen" >&2
cat "$folder/log" >&2
exit 1

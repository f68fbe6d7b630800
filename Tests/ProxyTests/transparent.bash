# A client in a network of its own behind a router that redirects what it says to a transparent proxy (Linux). Run in
# namespaces of its own: unshare -rn (root: -n) transparent.bash FRAMETAP FOLDER OPTION…
# With server.crt, server.key and proxy.pem in the folder, client and server speak TLS.
set -eu
frametap=$1 folder=$2
shift 2
PATH=$PATH:/usr/sbin:/sbin
# The tests' own process may have blocked TERM, which is inherited.
trap 'kill -KILL $(jobs -p)' EXIT

ip link set lo up
ip link add gate type veth peer name leg
ip addr add 10.9.0.1/24 dev gate
ip -6 addr add fd09::1/64 dev gate nodad
ip link set gate up
unshare -n sleep 100 &
client=$!
until [ "$(readlink /proc/$client/ns/net)" != "$(readlink /proc/$$/ns/net)" ]; do sleep 0.05; done
ip link set leg netns $client
within() { nsenter -t $client -n "$@"; }
within ip addr add 10.9.0.2/24 dev leg
within ip -6 addr add fd09::2/64 dev leg nodad
within ip link set leg up

nft -f - <<'END'
table inet frametap {
    chain in { type nat hook prerouting priority -100; tcp dport 9000 redirect to :18600; }
    # Nobody is exempt here: the proxy's own connections come back to it.
    chain out { type nat hook output priority -100; tcp dport 9001 redirect to :18600; }
}
END

cd "$folder"
python3 -c '
import os, socket, ssl, threading
listener = socket.create_server(("::", 9000), family=socket.AF_INET6, dualstack_ipv6=True)
if os.path.exists("server.crt"):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("server.crt", "server.key")
    listener = context.wrap_socket(listener, server_side=True)
open("serving", "w").close()
def echo(sock):
    while data := sock.recv(1000): sock.sendall(data)
    sock.close()
while True: threading.Thread(target=echo, args=(listener.accept()[0],)).start()
' &
server=$!
"$frametap" proxy --listen 'transparent://[::]:18600' --format chunk --as none --trace "$folder/trace" "$@" 2> "$folder/errors" &
proxy=$!
until grep -q listening "$folder/errors"; do sleep 0.05; kill -0 $proxy; done
# The server may take longer to begin than the proxy.
until [ -e serving ]; do sleep 0.05; kill -0 $server; done
cat > "$folder/say.py" <<'END'
import os, socket, ssl, sys
try:
    with socket.create_connection((sys.argv[1], int(sys.argv[2])), 10) as sock:
        if os.path.exists("proxy.pem"):
            sock = ssl.create_default_context(cafile="proxy.pem").wrap_socket(sock, server_hostname="chat.example.com")
        sock.sendall(b"hello")
        print(sys.argv[1], sock.recv(100).decode() or "nothing")
except (ConnectionResetError, ssl.SSLError):
    print(sys.argv[1], "reset")
END
within python3 "$folder/say.py" 10.9.0.1 9000
within python3 "$folder/say.py" fd09::1 9000
python3 "$folder/say.py" 10.9.0.1 9001
python3 "$folder/say.py" 127.0.0.1 18600
kill -INT $proxy
wait $proxy

"""Seeds a torrent, takes it with its metadata from a magnet link, has aria2 take it, and asks for it by hand."""

import base64
import json
import socket
import struct
import sys
import time
import urllib.request

import libtorrent

work = sys.argv[1]


def session(port):
    return libtorrent.session({"listen_interfaces": f"127.0.0.1:{port}", "enable_dht": False, "enable_lsd": False, "enable_upnp": False, "enable_natpmp": False,
                               "enable_outgoing_utp": False, "enable_incoming_utp": False, "out_enc_policy": 2, "in_enc_policy": 2, "allow_multiple_connections_per_ip": True,
                               "alert_mask": 0, "unchoke_interval": 1})


def wait_until(true):
    for _ in range(200):
        if true():
            return
        time.sleep(0.1)
    raise SystemExit("it takes too long")


files = libtorrent.file_storage()
libtorrent.add_files(files, work + "/seed/letters")
creation = libtorrent.create_torrent(files, piece_size=16384, flags=libtorrent.create_torrent.v1_only)
libtorrent.set_piece_hashes(creation, work + "/seed")
torrent = libtorrent.bencode(creation.generate())
info = libtorrent.torrent_info(libtorrent.bdecode(torrent))

seeder = session(6881)
seed = seeder.add_torrent({"ti": info, "save_path": work + "/seed"})
wait_until(lambda: seed.status().is_seeding)

# Only the hash is known: the metadata come from the peer.
taker = session(6890)
magnet = libtorrent.parse_magnet_uri(f"magnet:?xt=urn:btih:{info.info_hash()}")
magnet.save_path = work + "/taken"
taken = taker.add_torrent(magnet)
taken.connect_peer(("127.0.0.1", 6881))
wait_until(lambda: taken.status().is_seeding)
time.sleep(0.5)
taker.remove_torrent(taken)
time.sleep(0.5)

# aria2 knows the torrent; the seeder calls it.
call = {"jsonrpc": "2.0", "id": "1", "method": "aria2.addTorrent", "params": [base64.b64encode(torrent).decode()]}
urllib.request.urlopen("http://127.0.0.1:6800/jsonrpc", json.dumps(call).encode()).read()
seed.connect_peer(("127.0.0.1", 6882))
time.sleep(6)


def message(*content):
    content = b"".join(content)
    return struct.pack("!I", len(content)) + content


def by_hand():
    """The handshake in pieces, requests of small blocks in one packet, cancels, and messages that carry nothing."""
    hash = bytes.fromhex(str(info.info_hash()))
    with socket.create_connection(("127.0.0.1", 6881)) as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        request = [struct.pack("!3I", 0, start, 300) for start in range(0, 3000, 300)]
        shake = b"\x13BitTorrent protocol" + bytes(8) + hash + b"-XX0001-" + bytes(range(12))
        for words in (shake[:1], shake[1:30], shake[30:], message(), message(b"\2"), message(b"\5\0"), b"", b"", b"", message(b"\6", request[0])[:3], message(b"\6", request[0])[3:],
                      b"".join(message(b"\6", each) for each in request[1:]), message(b"\6", request[1]) + message(b"\x08", request[1]), message(b"\4", bytes(4)),
                      message() + message(b"\3") + message(b"\1") + message(b"\0")):
            if words:
                sock.sendall(words)
            time.sleep(0.3)
    # No such torrent: the seeder just goes.
    with socket.create_connection(("127.0.0.1", 6881)) as sock:
        sock.sendall(b"\x13BitTorrent protocol" + bytes(8) + bytes(20) + b"-XX0001-" + bytes(12))
        time.sleep(0.5)


by_hand()

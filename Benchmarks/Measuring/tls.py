"""TLS decrypted and encrypted anew, against HAProxy and mitmproxy: handshakes, and bulk."""

import contextlib
import re
import shutil
import subprocess
import time

from proxying import PATIENCE, Way, compared, free_port, running, wait_for
from tools import Result, Trouble, output

HANDSHAKE_SECONDS = 3
CLIENTS = 4
BULK_BYTES = 256 << 20

SERVER = """
global
  nbthread 1
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend answers
  bind 127.0.0.1:{port} ssl crt {folder}/server.pem
  http-request return status 200 content-type text/plain string ok
"""

BETWEEN = """
global
  nbthread 1
defaults
  mode tcp
  timeout connect 5s
  timeout client 30s
  timeout server 30s
listen relayed
  bind 127.0.0.1:{port} ssl crt {folder}/server.pem
  server only 127.0.0.1:{server} ssl verify required ca-file {folder}/ca.pem sni str(localhost) verifyhost localhost
"""


def identities(shop):
    """A certificate for localhost and its authority, as files of a folder."""
    folder = shop.folder / "tls"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    script = """
        openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj /CN=bench -keyout ca.key -out ca.pem
        openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout server.key -out server.csr
        echo subjectAltName=DNS:localhost > names
        openssl x509 -req -in server.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile names -out server.crt
        cat server.crt server.key > server.pem
    """
    subprocess.run(["sh", "-e", "-c", script], cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return folder


@contextlib.contextmanager
def configured_haproxy(folder, name, text):
    path = folder / f"{name}.cfg"
    path.write_text(text)
    with running("haproxy", "-f", path, "-q") as process:
        yield process


@contextlib.contextmanager
def frametap_between(shop, folder, server):
    """frametap that intercepts; gives its process and its port."""
    command = [
        shop.frametap, "proxy", "--listen", "127.0.0.1:0", "--to", f"localhost:{server}", "--tls", "intercept", "--ca", folder / "authority",
        "--server-ca", folder / "ca.pem", "--format", "chunk", "--body-limit", "0", "--as", "none"]
    with running(*command, stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if found := re.search(r"listening on 127\.0\.0\.1:(\d+)", line):
                yield process, int(found[1])
                return
        raise Trouble("the proxy does not listen")


@contextlib.contextmanager
def mitmproxy_between(folder, server):
    """mitmproxy that intercepts, if it is installed; gives its process and its port, or nothing."""
    program = shutil.which("mitmdump")
    if program is None:
        yield None
        return
    port = free_port()
    command = [
        program, "-q", "--listen-host", "127.0.0.1", "-p", port, "--mode", f"reverse:tls://localhost:{server}", "--set",
        f"confdir={folder}/mitmproxy", "--set", f"ssl_verify_upstream_trusted_ca={folder}/ca.pem"]
    with running(*command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_for(port)
        yield process, port


def handshakes(port):
    """Connections a second, each with a handshake, a request and an answer, of several clients at once."""
    command = ["openssl", "s_time", "-connect", f"127.0.0.1:{port}", "-new", "-time", str(HANDSHAKE_SECONDS), "-www", "/"]
    clients = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) for _ in range(CLIENTS)]
    total = 0.0
    for client in clients:
        text, _ = client.communicate(timeout=10 * PATIENCE)
        found = re.search(r"^(\d+) connections in (\d+) real seconds", text, re.MULTILINE)
        if not found:
            raise Trouble(f"openssl s_time: {text[-300:]}")
        total += int(found[1]) / int(found[2])
    return total


def download(port):
    """Gbit/s of a large answer."""
    start = time.monotonic()
    output("curl", "-s", "-k", "-o", "/dev/null", f"https://127.0.0.1:{port}/bulk.bin")
    return 8 * BULK_BYTES / (time.monotonic() - start) / 1e9


def tls(shop, rounds):
    """TLS that is decrypted and encrypted anew: handshakes and bulk."""
    folder = identities(shop)
    server = free_port()
    with configured_haproxy(folder, "server", SERVER.format(port=server, folder=folder)):
        wait_for(server)
        yield from through(shop, folder, server, handshakes, min(rounds, 3), "handshakes", "a_second")
    with (folder / "bulk.bin").open("wb") as file:
        file.truncate(BULK_BYTES)
    server = free_port()
    command = ["openssl", "s_server", "-accept", f"127.0.0.1:{server}", "-cert", folder / "server.crt", "-key", folder / "server.key", "-WWW", "-quiet"]
    with running(*command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        wait_for(server)
        yield from through(shop, folder, server, download, min(rounds, 3), "bulk", "gbit_per_second")


def through(shop, folder, server, measure, rounds, name, unit):
    """What is measured through each proxy in turn."""
    other = free_port()
    with configured_haproxy(folder, "between", BETWEEN.format(port=other, server=server, folder=folder)) as haproxy, \
            frametap_between(shop, folder, server) as (frametap, port), mitmproxy_between(folder, server) as mitmproxy:
        wait_for(other)
        ways = {"direct": Way(server), "haproxy": Way(other, haproxy), "frametap": Way(port, frametap)}
        if mitmproxy:
            ways["mitmproxy"] = Way(mitmproxy[1], mitmproxy[0])
        ratio, medians, columns = compared(ways, measure, rounds)
    details = {key if "cpu" in key else f"{key}_{unit}": value for key, value in medians.items()}
    yield Result(
        "tls", f"proxy, TLS intercepted, {name} against HAProxy", ratio, "×", must=0.8, aim=1.0, more_is_better=True, details=details,
        **columns)
    if mitmproxy:
        yield Result(
            "tls", f"proxy, TLS intercepted, {name} against mitmproxy", medians["frametap"] / medians["mitmproxy"], "×", must=20,
            more_is_better=True, details=details)

"""Relaying against HAProxy: small messages there and back, bulk, and what an idle connection costs."""

import contextlib
import json
import os
import re
import resource
import signal
import socket
import statistics
import subprocess
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from tools import Result, Trouble, anonymous_memory, output, thread_count

PATIENCE = 30  # seconds

HAPROXY = """
global
  nbthread {threads}
defaults
  mode tcp
  timeout connect 5s
  timeout client 120s
  timeout server 120s
listen relayed
  bind 127.0.0.1:{port}
  server only 127.0.0.1:{server}
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def wait_for(port):
    """Until somebody listens; read from the kernel's table, since iperf3 takes a connection that says nothing amiss."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if re.search(rf"^ *\d+: 0100007F:{port:04X} \S+ 0A ", Path("/proc/net/tcp").read_text(), re.MULTILINE):
            return
        time.sleep(0.02)
    raise Trouble(f"nobody listens on port {port} after {PATIENCE} s")


@contextlib.contextmanager
def running(*command, **options):
    process = subprocess.Popen([str(word) for word in command], **options)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextlib.contextmanager
def frametap_proxy(shop, server, *arguments, program=None):
    """frametap before a server, decoding all and writing a trace; gives its process, its port and the trace's path.

    `program` is another command that runs it."""
    trace = shop.folder / f"proxy-{uuid.uuid4()}.ndjson"
    command = [*(program or [shop.frametap]), "proxy", "--listen", "127.0.0.1:0", "--to", f"127.0.0.1:{server}", "--as", "none", "--trace", trace, *arguments]
    try:
        with running(*command, stderr=subprocess.PIPE, text=True) as process:
            found = None
            while not found:
                line = process.stderr.readline()
                if not line:
                    raise Trouble("the proxy does not listen")
                found = re.search(r"listening on 127\.0\.0\.1:(\d+)", line)
            yield process, int(found[1]), trace
    finally:
        trace.unlink(missing_ok=True)


@contextlib.contextmanager
def haproxy(shop, server, threads=1):
    port, path = free_port(), shop.folder / f"haproxy-{threads}.cfg"
    path.write_text(HAPROXY.format(port=port, server=server, threads=threads))
    with running("haproxy", "-f", path, "-q") as process:
        wait_for(port)
        yield process, port


@contextlib.contextmanager
def echo_server(shop):
    port = free_port()
    with running(shop.program("ping_pong"), "server", port, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout.readline().strip() != "ready":
            raise Trouble("the echo server does not listen")
        yield port


def cpu_seconds(pid):
    """CPU seconds of a process and of its children, such as HAProxy's worker."""
    total = 0
    for process in (pid, *children(pid)):
        # After the name in brackets: state, parent, …; user and system time are fields 14 and 15 of all.
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def children(pid):
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


@dataclass
class Way:
    """A way to the server: its port, and the process that relays; none on the direct way."""

    port: int
    process: subprocess.Popen = None

    def measured(self, measure):
        """What `measure` gives for this way, and the relay's CPU seconds and wall-clock seconds meanwhile."""
        pid = self.process and self.process.pid
        before, start = pid and cpu_seconds(pid), time.monotonic()
        value = measure(self.port)
        return value, pid and cpu_seconds(pid) - before, time.monotonic() - start


def compared(ways, measure, rounds):
    """What is measured each way in turn: frametap's share of HAProxy's, medians, and what frametap's process took."""
    values = [{name: way.measured(measure) for name, way in ways.items()} for _ in range(rounds)]
    medians = {name: round(statistics.median(round[name][0] for round in values), 2) for name in ways}
    for name, way in ways.items():
        if way.process:
            medians[f"{name}_cpu_seconds"] = round(statistics.median(round[name][1] for round in values), 3)
    columns = {
        "threads": thread_count(ways["frametap"].process.pid),
        "wall_seconds": round(statistics.median(round["frametap"][2] for round in values), 3),
        "cpu_seconds": medians["frametap_cpu_seconds"]}
    return statistics.median(round["frametap"][0] / round["haproxy"][0] for round in values), medians, columns


@dataclass
class RoundTrips:
    """What a client of the echo server finds: messages a second, and microseconds until one is back."""

    rate: float
    median: float
    percentile_99: float

    @classmethod
    def measured(cls, shop, port, connections, messages):
        return cls(*map(float, output(shop.program("ping_pong"), "client", port, connections, messages).split()))


def recorded(trace, expected):
    """How much of what was relayed the trace has: frames, and bytes that were dropped from it."""
    frames = dropped = 0
    with trace.open(encoding="utf-8") as lines:
        for line in lines:
            frames += line.startswith('{"event":"frame"')
            dropped += line.startswith('{"event":"dropped"')
    return {"frames_relayed": expected, "frames_in_trace": frames, "dropped_events": dropped}


def proxy(shop, rounds):
    """64-byte messages there and back, each waited for: as many event loops as HAProxy has threads."""
    with echo_server(shop) as server:
        for threads in (1, 2):
            with haproxy(shop, server, threads) as reference:
                for connections in (1, 100):
                    yield from ping_pong(shop, rounds, server, reference, connections, threads)


def ping_pong(shop, rounds, server, reference, connections, threads):
    total = {1: 20_000, 100: 200_000}[connections]
    (haproxy_process, other), times = reference, {}

    def ask(port):
        found = RoundTrips.measured(shop, port, connections, total // connections)
        times.setdefault(port, []).append(found)
        return found.rate

    with frametap_proxy(shop, server, "--format", "len16-id", "--threads", str(threads)) as (process, port, trace):
        ways = {"direct": Way(server), "haproxy": Way(other, haproxy_process), "frametap": Way(port, process)}
        ratio, medians, columns = compared(ways, ask, rounds)
        for name in ("haproxy", "frametap"):
            medians[f"{name}_cpu_microseconds_a_message"] = round(medians[f"{name}_cpu_seconds"] / total * 1e6, 2)
        process.send_signal(signal.SIGTERM)
        process.wait(PATIENCE)
        medians |= recorded(trace, 2 * rounds * total)
    for name, way in ways.items():
        for what in ("median", "percentile_99"):
            medians[f"{name}_{what}_microseconds"] = round(statistics.median(getattr(found, what) for found in times[way.port]), 1)
    # Event loops of frametap's, threads of HAProxy's.
    title = f"proxy, {connections} connection{'s' if connections > 1 else ''}, {threads} thread{'s' if threads > 1 else ''} each"
    yield Result(
        "proxy", f"{title}, messages against HAProxy", ratio, "×", must=0.9 if connections == 1 else 0.8, aim=1.0,
        more_is_better=True, details=medians, **columns)
    latest = [ours.percentile_99 / theirs.percentile_99 for ours, theirs in zip(times[port], times[other])]
    yield Result(
        "proxy", f"{title}, 99th percentile against HAProxy", statistics.median(latest), "×", must=1.2, details=medians,
        **columns)


def rules(shop, rounds):
    """The same ping-pong with a rule for frames that is evaluated on each, against none."""
    total = {1: 20_000, 100: 200_000}
    rule = ("--rule", "drop: type == \"none\" and length > 1000")
    with echo_server(shop) as server:
        for connections in (1, 100):
            def ask(port):
                return RoundTrips.measured(shop, port, connections, total[connections] // connections).rate

            with frametap_proxy(shop, server, "--format", "len16-id") as (plain, plain_port, _), \
                    frametap_proxy(shop, server, "--format", "len16-id", *rule) as (ruled, ruled_port, _):
                ways = {"plain": Way(plain_port, plain), "ruled": Way(ruled_port, ruled)}
                values = [{name: way.measured(ask) for name, way in ways.items()} for _ in range(rounds)]
            details = {name: round(statistics.median(each[name][0] for each in values), 2) for name in ways}
            for name in ways:
                cpu = statistics.median(each[name][1] for each in values)
                details[f"{name}_cpu_microseconds_a_message"] = round(cpu / total[connections] * 1e6, 2)
            ratio = statistics.median(each["ruled"][0] / each["plain"][0] for each in values)
            plural = "s" if connections > 1 else ""
            yield Result(
                "rules", f"proxy with a rule for frames, {connections} connection{plural}, messages against no rules", ratio, "×",
                must=0.8, more_is_better=True, details=details)


def bulk(shop, rounds):
    """As many bytes as will go through, one way."""
    server = free_port()
    with running("iperf3", "-s", "-B", "127.0.0.1", "-p", server, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        wait_for(server)
        with haproxy(shop, server) as (haproxy_process, other), \
                frametap_proxy(shop, server, "--format", "chunk", "--body-limit", "0") as (process, port, _):
            def send(port):
                text = output("iperf3", "-J", "-c", "127.0.0.1", "-p", port, "-t", "2")
                return json.loads(text)["end"]["sum_received"]["bits_per_second"] / 1e9

            ways = {"direct": Way(server), "haproxy": Way(other, haproxy_process), "frametap": Way(port, process)}
            ratio, medians, columns = compared(ways, send, rounds)
    yield Result(
        "bulk", "proxy, bulk bytes against HAProxy", ratio, "×", must=1.0, aim=1.5, more_is_better=True,
        details={name if "cpu" in name else f"{name}_gbit_per_second": value for name, value in medians.items()}, **columns)


def idle(shop, rounds):
    """Connections that say nothing: what each takes of the proxy's memory."""
    count = 9_000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < 2 * count + 200:
        raise Trouble(f"the limit of open files is {hard}; the proxy needs {2 * count + 200} (ulimit -Hn)")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with echo_server(shop) as server, frametap_proxy(shop, server, "--format", "len16-id") as (process, port, trace):
        before = anonymous_memory(process.pid)
        with contextlib.ExitStack() as all_of_them:
            for _ in range(count):
                all_of_them.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE))
            until = time.monotonic() + PATIENCE
            # Each has a socket to its client and one to the server.
            while len(os.listdir(f"/proc/{process.pid}/fd")) < 2 * count:
                if time.monotonic() > until:
                    raise Trouble(f"the proxy has not relayed {count} connections after {PATIENCE} s")
                time.sleep(0.1)
            time.sleep(1)
            after = anonymous_memory(process.pid)
    yield Result(
        "idle", f"memory per idle proxied connection, {count:,} of them", (after - before) / count / 1024, "KiB", must=32, aim=4)

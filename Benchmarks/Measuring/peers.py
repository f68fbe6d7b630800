"""The same work by other programs, as far as they are installed: tshark and tcpflow on captures, socat and mitmproxy between two ends."""

import contextlib
import shutil
import statistics
import subprocess

from proxying import RoundTrips, echo_server, frametap_proxy, free_port, haproxy, running, wait_for
from tools import BENCHMARKS, Result, Trouble, frames_of, output, say, usage

LUA = BENCHMARKS / "Reference" / "len16.lua"
# How many messages go there and back, by the number of connections: few, since some take a millisecond each.
MESSAGES = {1: 5_000, 100: 50_000}


def installed(name):
    """Whether a program is on the PATH; says so if it is not."""
    if shutil.which(name):
        return True
    say(f"{name} is not installed: it is not compared with")
    return False


def peers(shop, rounds):
    """What others take for the same work, in one run: frames of captures, streams of captures, messages relayed."""
    if installed("tshark"):
        yield listing(shop, rounds)
    if installed("tcpflow"):
        yield streams(shop, rounds)
    for connections in MESSAGES:
        yield from relaying(shop, rounds, connections)


def listing(shop, rounds):
    """A line for each frame: the fields that tshark prints, and NDJSON, which has all of them and the body."""
    ours, sizes = shop.decode("few", "ndjson"), {}
    theirs = ["tshark", "-n", "-r", shop.capture("tenth"), "-X", f"lua_script:{LUA}", "-Y", "len16id", "-T", "fields"]
    theirs += [word for field in ("frame.time_epoch", "tcp.stream", "len16id.length", "len16id.id", "len16id.body") for word in ("-e", field)]
    sizes["frametap"], sizes["tshark"] = frames_of(shop.decode("few")), frames_of(shop.decode("tenth"))
    # Several frames of a packet are on one line, separated by commas.
    listed = sum(line.split("\t")[3].count(",") + 1 for line in output(*theirs).splitlines())
    if abs(listed - sizes["tshark"]) > sizes["tshark"] / 100:
        raise Trouble(f"tshark lists {listed} frames, the capture has {sizes['tshark']}")
    pairs = [(usage(ours), usage(theirs)) for _ in range(min(rounds, 3))]
    ratios = [theirs.wall / sizes["tshark"] / (ours.wall / sizes["frametap"]) for ours, theirs in pairs]
    return compared("a line for each 45-byte frame, against tshark with Lua", ratios, pairs, "tshark", sizes)


def streams(shop, rounds):
    """What each side of each connection sent, as files."""
    capture, folder = shop.capture("few"), shop.folder / "streams"
    ours = [shop.frametap, "streams", capture, "--directory", folder]
    theirs = ["tcpflow", "-r", capture, "-o", folder]

    def run(command):
        shutil.rmtree(folder, ignore_errors=True)
        used = usage(command)
        return used, sum(file.stat().st_size for file in folder.iterdir() if file.suffix != ".xml")

    pairs, sizes = [], {}
    for _ in range(rounds):
        (mine, sizes["frametap"]), (other, sizes["tcpflow"]) = run(ours), run(theirs)
        pairs.append((mine, other))
    shutil.rmtree(folder)
    ratios = [theirs.wall / ours.wall for ours, theirs in pairs]
    return compared("streams of a capture as files, against tcpflow", ratios, pairs, "tcpflow", sizes)


def compared(name, ratios, pairs, other, sizes):
    """A result: how many times as fast as another program, and what both took."""
    details = {f"{program}_size": size for program, size in sizes.items()}
    for program, used in (("frametap", [ours for ours, _ in pairs]), (other, [theirs for _, theirs in pairs])):
        for what in ("wall", "cpu"):
            details[f"{program}_{what}_seconds"] = round(statistics.median(getattr(each, what) for each in used), 3)
    return Result(
        "peers", name, statistics.median(ratios), "×", must=1.0, more_is_better=True, details=details,
        threads=max(ours.threads for ours, _ in pairs), wall_seconds=details["frametap_wall_seconds"],
        cpu_seconds=details["frametap_cpu_seconds"])


@contextlib.contextmanager
def relay(*command):
    """A program that relays, whose command names the port that it listens on; gives that."""
    port = free_port()
    words = [str(word).replace("PORT", str(port)) for word in command]
    with running(*words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
        wait_for(port)
        yield port


def relays(server):
    """The other relays: the command of each."""
    yield "socat", f"socat TCP-LISTEN:PORT,bind=127.0.0.1,fork,reuseaddr,backlog=1024,nodelay TCP:127.0.0.1:{server},nodelay".split()
    yield "mitmdump", ["mitmdump", "-q", "--mode", f"reverse:tcp://127.0.0.1:{server}@127.0.0.1:PORT"]


def relaying(shop, rounds, connections):
    """64-byte messages there and back through each: frametap decodes them and writes a trace, the others only relay."""
    with contextlib.ExitStack() as all_of_them:
        server = all_of_them.enter_context(echo_server(shop))
        ports = {"frametap": all_of_them.enter_context(frametap_proxy(shop, server, "--format", "len16-id"))[1]}
        ports["haproxy"] = all_of_them.enter_context(haproxy(shop, server))[1]
        for name, command in relays(server):
            if installed(name):
                ports[name] = all_of_them.enter_context(relay(*command))
        found = {name: [] for name in ports}
        for _ in range(rounds):
            for name, port in ports.items():
                found[name].append(RoundTrips.measured(shop, port, connections, MESSAGES[connections] // connections))
    details = {}
    for name, trips in found.items():
        details[f"{name}_messages_a_second"] = round(statistics.median(each.rate for each in trips))
        details[f"{name}_percentile_99_microseconds"] = round(statistics.median(each.percentile_99 for each in trips), 1)
    for name in list(ports)[2:]:
        title = f"proxy, 64-byte ping-pong, {connections} connection{'s' if connections > 1 else ''}"
        yield Result(
            "peers", f"{title}, messages against {name.replace('mitmdump', 'mitmproxy')}",
            statistics.median(ours.rate / theirs.rate for ours, theirs in zip(found["frametap"], found[name])), "×", must=1.0,
            more_is_better=True, details=details)

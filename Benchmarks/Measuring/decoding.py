"""Decoding captures: against reading their packets, by form, in bad order, in tiny segments, and how much memory it takes."""

import re

from counting import by_thread, stripped
from tools import Result, frames_of, in_turn, median_usage, output, peak_memory


def spent(used):
    """A result's columns of what a command took."""
    return {"threads": used.threads, "wall_seconds": round(used.wall, 3), "cpu_seconds": round(used.cpu, 3)}


def decode(shop, rounds):
    """Small and large frames, against libpcap reading the packets; `--as summary` reassembles, frames and finds.

    CPU seconds are those of one thread, wall time is that of all threads that decode by default.
    """
    for name, title in (("small", "45-byte frames"), ("large", "1,005-byte frames")):
        ours, loop = shop.decode(name), [shop.program("packet_loop"), shop.capture(name)]
        frames = frames_of(ours)
        compared = in_turn(ours, loop, rounds)
        alone = in_turn([*ours, "--threads", "1"], loop, rounds)
        packets = int(re.match(r"\d+", output(*loop))[0])
        details = {
            "frames": frames, "packets": packets, "bytes": shop.capture(name).stat().st_size,
            "frames_per_second": round(frames / compared.ours.wall),
            "frames_per_cpu_second": round(frames / compared.ours.cpu),
            **{f"libpcap_{key}": value for key, value in spent(compared.theirs).items()}}
        yield Result(
            "decode", f"{title}, CPU seconds against libpcap's loop", alone.cpu_ratio, "×", must=2.0,
            aim=None if name == "small" else 1.3, details=details, **spent(alone.ours))
        yield Result(
            "decode", f"{title}, wall time against libpcap's loop", compared.wall_ratio, "×", must=2.0, aim=1.0,
            details=details, **spent(compared.ours))


def scaling(shop, rounds):
    """More threads than there may be cores: the instructions of one thread against those of the busiest of several.

    Two captures, a short one and a longer one: the difference is what the additional frames took, without starting up. Waiting for memory
    is not counted, nor that each core is slower if all are busy.
    """
    program = stripped(shop)

    def busiest(threads):
        short, long = (
            by_thread(shop, [program, "decode", shop.capture(name), "--format", "len16-id", "--as", "summary", "--threads", threads])
            for name in ("some", "more"))
        return max(more - less for less, more in zip(short, long))

    alone = busiest(1)
    for threads in (2, 4, 8):
        most = busiest(threads)
        yield Result(
            "scaling", f"45-byte frames on {threads} threads, by instructions of the busiest", alone / most, "×", must=0.8 * threads,
            more_is_better=True, details={"instructions_alone": alone, "instructions_busiest": most})


def rate(shop, name, form, shape, rounds):
    frames = frames_of(shop.decode(name, shape=shape))
    used = median_usage(shop.decode(name, form, shape=shape), rounds)
    return frames / used.wall / 1e6, {
        "details": {"frames": frames, "frames_per_cpu_second": round(frames / used.cpu)}, **spent(used)}


def forms(shop, rounds):
    """Traces of small frames to /dev/null, and a format with a JSON head."""
    for form in ("ndjson", "text"):
        value, columns = rate(shop, "few", form, "len16-id", rounds)
        yield Result("forms", f"--as {form}, 45-byte frames", value, "M frames/s", must=1, aim=3, more_is_better=True, **columns)
    value, columns = rate(shop, "chat", "summary", "im-json", rounds)
    yield Result("forms", "im-json, --as summary", value, "M frames/s", must=2, aim=5, more_is_better=True, **columns)


def memory(shop, rounds):
    """The most anonymous memory while a capture is decoded."""
    for name, title, must, aim in (
        ("small", "720 MB, 100 connections", 64, None),
        ("open", "1 M connections, all open", 1024, 300),
    ):
        yield Result("memory", f"memory, {title}", peak_memory(shop.decode(name)) / (1 << 20), "MiB", must=must, aim=aim)


def segments(shop, rounds):
    """What tiny segments and bad order cost."""
    start = median_usage([shop.frametap, "formats", "list"], 5).wall
    used = {
        name: median_usage(shop.decode(name, shape=shape), rounds)
        for name, shape in (("bytes-1", "im-json"), ("bytes-16", "im-json"), ("in-order", "len16-id"), ("reversed", "len16-id"))
    }
    details = {f"{name}_seconds": round(taken.wall, 4) for name, taken in used.items()}
    # Starting up takes as long for 1 MiB as for 16: it is no time per byte.
    long, short = used["bytes-16"].wall - start, used["bytes-1"].wall - start
    yield Result(
        "segments", "1-byte segments, time per byte of a 16 MiB frame against 1 MiB", long / 16 / short, "×", must=1.5, details=details,
        **spent(used["bytes-16"]))
    yield Result(
        "segments", "100,000 segments of 10 bytes, reversed against in order", used["reversed"].wall / used["in-order"].wall, "×",
        must=5, details=details, **spent(used["reversed"]))


def startup(shop, rounds):
    """How long it takes until the program has done something, and how large it is."""
    used = median_usage([shop.frametap, "formats", "list"], 40 * rounds + 1, is_short=True)
    yield Result("startup", "start-up: frametap formats list", used.wall * 1000, "ms", must=15, aim=5, **spent(used))
    stripped = shop.folder / "frametap-stripped"
    output("strip", "-o", stripped, shop.frametap)
    yield Result("startup", "the program without debugging information", stripped.stat().st_size / 1e6, "MB", must=60, aim=40)

"""Decoding captures: against reading their packets, by form, in bad order, in tiny segments, and how much memory it takes."""

import re
import statistics

from tools import Result, frames_of, in_turn, output, peak_memory, seconds


def decode(shop, rounds):
    """Small and large frames, against libpcap reading the packets; `--as summary` reassembles, frames and finds."""
    for name, title in (("small", "45-byte frames"), ("large", "1,005-byte frames")):
        ours, loop = shop.decode(name), [shop.program("packet_loop"), shop.capture(name)]
        frames = frames_of(ours)
        mine, theirs, ratio = in_turn(ours, loop, rounds)
        packets = int(re.match(r"\d+", output(*loop))[0])
        yield Result(
            "decode", f"{title}, time against libpcap's loop", ratio, "×", must=2.0, aim=1.0,
            details={"frames": frames, "packets": packets, "bytes": shop.capture(name).stat().st_size,
                     "seconds": round(mine, 3), "libpcap_seconds": round(theirs, 3), "frames_per_second": round(frames / mine)})


def rate(shop, name, form, shape, rounds):
    frames = frames_of(shop.decode(name, shape=shape))
    command = shop.decode(name, form, shape=shape)
    seconds(command)
    taken = statistics.median(seconds(command) for _ in range(rounds))
    return frames / taken / 1e6, {"frames": frames, "seconds": round(taken, 3)}


def forms(shop, rounds):
    """Traces of small frames to /dev/null, and a format with a JSON head."""
    for form in ("ndjson", "text"):
        value, details = rate(shop, "few", form, "len16-id", rounds)
        yield Result("forms", f"--as {form}, 45-byte frames", value, "M frames/s", must=1, aim=3, more_is_better=True, details=details)
    value, details = rate(shop, "chat", "summary", "im-json", rounds)
    yield Result("forms", "im-json, --as summary", value, "M frames/s", must=2, aim=5, more_is_better=True, details=details)


def memory(shop, rounds):
    """The most anonymous memory while a capture is decoded."""
    for name, title, must, aim in (
        ("small", "720 MB, 100 connections", 64, None),
        ("open", "1 M connections, all open", 1024, 300),
    ):
        yield Result("memory", f"memory, {title}", peak_memory(shop.decode(name)) / (1 << 20), "MiB", must=must, aim=aim)


def segments(shop, rounds):
    """What tiny segments and bad order cost."""
    start = statistics.median(seconds([shop.frametap, "formats", "list"]) for _ in range(5))
    times = {}
    for name, shape in (("bytes-1", "im-json"), ("bytes-16", "im-json"), ("in-order", "len16-id"), ("reversed", "len16-id")):
        command = shop.decode(name, shape=shape)
        seconds(command)
        times[name] = statistics.median(seconds(command) for _ in range(rounds))
    details = {f"{name}_seconds": round(taken, 4) for name, taken in times.items()}
    # Starting up takes as long for 1 MiB as for 16: it is no time per byte.
    long, short = times["bytes-16"] - start, times["bytes-1"] - start
    yield Result(
        "segments", "1-byte segments, time per byte of a 16 MiB frame against 1 MiB", long / 16 / short, "×", must=1.5, details=details)
    yield Result(
        "segments", "100,000 segments of 10 bytes, reversed against in order", times["reversed"] / times["in-order"], "×", must=5,
        details=details)


def startup(shop, rounds):
    """How long it takes until the program has done something."""
    command = [shop.frametap, "formats", "list"]
    seconds(command)
    value = statistics.median(seconds(command) for _ in range(4 * rounds + 1)) * 1000
    yield Result("startup", "start-up: frametap formats list", value, "ms", must=15, aim=5)

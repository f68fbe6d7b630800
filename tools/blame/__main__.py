"""Holds the conversations of tools/record-blame, which makes the namespaces that they need: blame FOLDER [NAME…]

Each is a function with a client's and a server's socket in its hands, and is recorded by a tcpdump beside the server. It knows
nothing of frametap. Where this machine was too busy to keep time, a conversation is held again.
"""

import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from conversations import SCENARIOS
from stage import Detour, Overslept, Stage

AT_ONCE = 8  # conversations


def record(name, folder, port, detour):
    function, taps, buffers = SCENARIOS[name]
    files = {side: folder / (f"{name}.pcap" if side == taps[0] else f"{name}-at-{side}.pcap") for side in taps}
    for attempt in range(5):
        stage = Stage(port, files, detour, **buffers)
        for tap in stage.taps:
            tap.start()
        try:
            function(stage)
            kept = True
        except Overslept:
            kept = False
        stage.over()
        time.sleep(0.3)
        for tap in stage.taps:
            tap.stop()
            tap.join()
        if kept:
            return
        port += 1_000
    raise RuntimeError(f"{name}: this machine is too busy")


def main():
    folder, names = Path(sys.argv[1]), sys.argv[2:] or list(SCENARIOS)
    for name in names:
        if name not in SCENARIOS:
            sys.exit(f"record-blame: there is no {name}; known are {', '.join(SCENARIOS)}")
    detour = Detour()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        ports = {name: 9201 + number for number, name in enumerate(SCENARIOS)}
        for done in [pool.submit(record, name, folder, ports[name], detour) for name in names]:
            done.result()


main()

"""A fleet's day: devices at one server, seen by two taps that each miss packets, in rotated files.

`python tests/synthetic.py FOLDER CONNECTIONS FILES BODY` writes one, with bodies of up to BODY bytes.
"""

from __future__ import annotations

import random
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DAY = 1_795_219_200 * 10**9  # 2026-11-21T00:00:00Z
SECOND = 10**9
SERVER = (bytes([10, 0, 0, 1]), 7000)

FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16

#: Bytes before the payload: Ethernet, IPv4, TCP.
HEADERS = 54


@dataclass
class Packet:
    """One packet on the wire: when it passed, and its bytes."""

    time: int
    data: bytes


def message(kind: int, number: int, body: bytes = b"") -> bytes:
    """A frame of tests/device.yaml."""
    return struct.pack(">BBHI", 0xD5, kind, len(body), number) + body


class Conversation:
    """One TCP connection: writes segments with the right numbers."""

    def __init__(self, client: tuple[bytes, int], random_: random.Random) -> None:
        self.ends = (client, SERVER)
        self.sequence = [random_.randrange(2**32), random_.randrange(2**32)]
        self.identification = [random_.randrange(2**16), random_.randrange(2**16)]
        self.packets: list[Packet] = []

    def send(self, time: int, side: int, flags: int, payload: bytes = b"", lost: bool = False) -> Packet:
        """One segment; `lost`: it was sent, and no tap saw it."""
        packet = self._packet(time, side, flags, payload, self.sequence[side])
        self.sequence[side] = (self.sequence[side] + len(payload) + bool(flags & (SYN | FIN))) % 2**32
        if not lost:
            self.packets.append(packet)
        return packet

    def repeat(self, time: int, packet: Packet) -> None:
        """The same segment again."""
        self.packets.append(Packet(time, packet.data))

    def _packet(self, time: int, side: int, flags: int, payload: bytes, sequence: int) -> Packet:
        (source, source_port), (target, target_port) = self.ends[side], self.ends[1 - side]
        self.identification[side] = (self.identification[side] + 1) % 2**16
        acknowledged = self.sequence[1 - side] if flags & ACK else 0
        tcp = struct.pack(">HHIIBBHHH", source_port, target_port, sequence, acknowledged, 0x50, flags, 65535, 0, 0)
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp) + len(payload), self.identification[side], 0x4000, 64, 6, 0)
        return Packet(time, b"\x02" * 12 + b"\x08\x00" + ip + source + target + tcp + payload)

    def open(self, time: int) -> None:
        """The handshake."""
        self.send(time, 0, SYN)
        self.send(time + 1_000_000, 1, SYN | ACK)
        self.send(time + 2_000_000, 0, ACK)

    def close(self, time: int, side: int) -> None:
        """Both sides' FINs."""
        self.send(time, side, FIN | ACK)
        self.send(time + 1_000_000, 1 - side, FIN | ACK)
        self.send(time + 2_000_000, side, ACK)


def device(number: int, random_: random.Random, connections: int, body: int) -> Conversation:
    """What one device does. Every 20th sends bytes that are no frame, every 15th loses a heartbeat on the way, every 40th stays
    connected until the day ends, every 50th loses its connection again and again."""
    storm = number % 50 < 7 and connections >= 50
    host = number - number % 50 if storm else number
    client = (bytes([10, 1 + host // 62_500, host // 250 % 250, 1 + host % 250]), 20_000 + number % 40_000)
    talk = Conversation(client, random_)
    spread = random.Random(host).randrange(80_000 * SECOND)
    start = DAY + (spread + number % 50 * 4 * SECOND if storm else random_.randrange(80_000 * SECOND))
    talk.open(start)
    time = start + 10_000_000
    talk.send(time, 0, PSH | ACK, message(1, 0, b"device %d" % number))
    talk.send(time + random_.randrange(1_000_000, 90_000_000), 1, PSH | ACK, message(2, 0))
    if storm:
        talk.send(time + 3 * SECOND, 1, RST | ACK)
        return talk
    for beat in range(1, random_.randrange(4, 9)):
        time = start + beat * 10 * SECOND
        if number % 15 == 3 and beat == 2:
            held = talk.send(time, 0, PSH | ACK, message(9, beat), lost=True)
            talk.send(time + 10 * SECOND, 0, PSH | ACK, message(9, beat))
            talk.repeat(time + 38 * SECOND, held)
            start += 40 * SECOND
            continue
        talk.send(time, 0, PSH | ACK, message(9, beat))
        question = message(3, beat, b"q" * random_.randrange(body))
        cut = random_.randrange(1, len(question))
        time += random_.randrange(SECOND, 8 * SECOND)
        talk.send(time, 0, PSH | ACK, question[:cut])
        talk.send(time + 200_000, 0, PSH | ACK, question[cut:])
        if beat % 7 != 5:
            talk.send(time + random_.randrange(1_000_000, 900_000_000), 1, PSH | ACK, message(4, beat, b"r" * body))
    if number % 20 == 7:
        talk.send(time + SECOND, 0, PSH | ACK, bytes([0xAA, number % 256]) * 9)
    if number % 40 == 9:
        while time < DAY + 86_000 * SECOND:
            time += 600 * SECOND
            talk.send(time, 0, PSH | ACK, message(9, 99))
    else:
        talk.close(time + 2 * SECOND, number % 2)
    return talk


def taps(packets: list[Packet], random_: random.Random) -> tuple[list[Packet], list[Packet]]:
    """What each of two taps sees: 60 to 100 % of the packets; the second one's clock is 0.4 ms ahead."""
    share = random_.uniform(0.6, 1), random_.uniform(0.9, 1)
    first = [packet for packet in packets if random_.random() < share[0]]
    second = [Packet(packet.time + 400_000, packet.data) for packet in packets if random_.random() < share[1]]
    return first, second


def write_capture(path: Path, packets: list[Packet]) -> None:
    """A pcap file with nanoseconds, Ethernet."""
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 1))
        for packet in packets:
            seconds, nanoseconds = divmod(packet.time, SECOND)
            length = len(packet.data)
            file.write(struct.pack("<IIII", seconds, nanoseconds, length, length) + packet.data)


def write_day(folder: Path, seed: int, connections: int, files: int, body: int = 60) -> Iterator[Path]:
    """Writes the day's captures, `files` of them, half by each tap, and yields their paths."""
    random_ = random.Random(seed)
    seen: tuple[list[Packet], list[Packet]] = ([], [])
    for number in range(connections):
        for all_, some in zip(seen, taps(device(number, random_, connections, body).packets, random_), strict=True):
            all_.extend(some)
    folder.mkdir(parents=True, exist_ok=True)
    for tap, packets in zip("ab", seen, strict=True):
        packets.sort(key=lambda packet: packet.time)
        size = -(-len(packets) // (files // 2))
        for index in range(files // 2):
            path = folder / f"tap-{tap}-{index:05}.pcap"
            write_capture(path, packets[index * size : (index + 1) * size])
            yield path


if __name__ == "__main__":
    print(len(list(write_day(Path(sys.argv[1]), 7, *map(int, sys.argv[2:])))), "files, SEED=7")

import Packets
import Streams

/// A packet as an owned value.
struct ReadPacket: Equatable {
    var info: PacketInfo
    var bytes: [UInt8]
    var comments: [String]
}

/// Keeps the packets of a capture.
struct PacketLog: PacketReceiver {
    var packets: [ReadPacket] = []
    var end: Timestamp?
    /// The number of the packet to stop before, once.
    var stopAt: Int?

    mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        if packet.number == stopAt {
            stopAt = nil
            return .stop
        }
        packets.append(ReadPacket(info: packet, bytes: bytes.copied(), comments: packet.comments(in: options)))
        return .taken
    }

    mutating func captured(until time: Timestamp) {
        end = time
    }
}

/// Bytes that arrive in pieces of the given sizes, repeatedly.
struct PieceSource: SkippableSource {
    var bytes: [UInt8]
    var sizes: [Int]
    private var position = 0
    private var reads = 0

    init(_ bytes: [UInt8], sizes: [Int]) {
        self.bytes = bytes
        self.sizes = sizes
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Never) -> Int {
        let count = min(sizes[reads % sizes.count], buffer.count, bytes.count - position)
        buffer.copyBytes(from: bytes[position..<position + count])
        position += count
        reads += 1
        return count
    }

    mutating func skip(_ count: Int) throws(Never) { position = min(position + count, bytes.count) }
}

/// All packets of a file, and how reading it ended.
func read(_ file: [UInt8], sizes: [Int] = [1 << 20], chunk: Int = 1 << 16) -> (log: PacketLog, error: CaptureError?) {
    var log = PacketLog()
    var reader = CaptureReader(PieceSource(file, sizes: sizes), chunk: chunk)
    do {
        try reader.read(to: &log)
    } catch {
        if case .damaged(let damage) = error { return (log, damage) }
    }
    return (log, nil)
}

/// All events of a file.
func events(of file: [UInt8], options: ReassemblyOptions = ReassemblyOptions()) -> (
    log: StreamEventLog, counters: CaptureCounters
) {
    let log = StreamEventLog()
    var decoder = CaptureDecoder(options: options, receiver: log)
    var reader = CaptureReader(PieceSource(file, sizes: [1 << 20]))
    _ = try? reader.read(to: &decoder)
    decoder.finish()
    return (log, decoder.counters)
}

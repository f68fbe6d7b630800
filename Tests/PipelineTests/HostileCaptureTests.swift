import Framing
import NIOCore
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

@testable import Proxy

/// Malformed captures: an error that gives the problem and its position, or events; and the readable part is kept.
@Suite struct HostileCaptureTests {
    let options: DecodingOptions
    let capture: [UInt8]
    /// The offsets of the capture's blocks, and its end.
    let blocks: [Int]

    init() throws {
        let chat = try ChatBytes()
        options = DecodingOptions(.fixed(chat.format))
        capture = try Self.record(chat)
        blocks = Self.blockStarts(capture)
    }

    /// A small capture of two connections, as `--write` writes it.
    private static func record(_ chat: ChatBytes) throws -> [UInt8] {
        let output = MemoryOutput()
        let queue = RecordingQueue(clock: { Timestamp(seconds: 1_795_248_000, nanoseconds: 0) })
        let packets = PacketRecorder(
            to: output, tool: "tests", start: Timestamp(seconds: 1_795_248_000, nanoseconds: 0))
        let decoder = Decoder(DecodingOptions(.fixed(chat.format)), sinks: [packets.frames])
        for (port, ending) in [(UInt16(40_000), Ending.fin), (40_001, .reset)] {
            let address = port == 40_000 ? IPAddress(v4: 0x7f00_0001) : IPAddress(v6: 0, 1)
            let number = queue.open(client: Endpoint(address, port), server: Endpoint(address, 8_088))
            queue.receive(ByteBuffer(bytes: try chat.heartbeat()), on: number, from: .fromClient)
            let two = try chat.message("txt", [1], from: .fromServer) + chat.message("txt", [2], from: .fromServer)
            queue.receive(ByteBuffer(bytes: two.prefix(100)), on: number, from: .fromServer)
            queue.receive(ByteBuffer(bytes: two.dropFirst(100)), on: number, from: .fromServer)
            queue.finish(ending, on: number, from: .fromServer)
            queue.finish(.fin, on: number, from: .fromClient)
        }
        queue.finish()
        Recorder(queue: queue, decoder: decoder, packets: packets).run { _ in }
        return output.bytes
    }

    private static func blockStarts(_ bytes: [UInt8]) -> [Int] {
        var starts = [0]
        while let last = starts.last, last + 8 <= bytes.count {
            let length = (0..<4).reduce(0) { $0 | Int(bytes[last + 4 + $1]) << (8 * $1) }
            starts.append(last + length)
        }
        return starts
    }

    private func frames(_ decoded: DecodedCapture) throws -> [String] {
        try decoded.lines().filter { $0.event == "frame" }.map(\.text)
    }

    /// Decodes damaged bytes; the contents of the blocks before the damage must have been kept.
    private func expectKept(_ bytes: [UInt8], damagedAt place: Int, kept: [Int: [String]], _ name: String, piece: Int)
        throws
    {
        let decoded = DecodedCapture(bytes, options: options, piece: piece)
        if let damage = decoded.damage {
            let isInside = (0...bytes.count).contains(damage.offset)
            #expect(isInside && !damage.expected.isEmpty && !damage.found.isEmpty, "\(name): \(damage)")
        }
        let lines = try decoded.lines()
        #expect(lines.last?.event == "summary", "\(name)")
        let before = blocks.last { $0 <= place } ?? 0
        let same = try frames(decoded).starts(with: kept[before] ?? [])
        #expect(same, "\(name): what was readable before is kept")
        let total = decoded.summary.total.bytes
        #expect(total.bytes == total.framed + total.unframed + total.padding + total.missing, "\(name)")
    }

    @Test func everyFlipCutAndInsertionGivesEventsOrAnError() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        #expect(blocks.last == capture.count && blocks.count > 20)
        // The frames that are whole in the blocks before each block.
        var kept: [Int: [String]] = [:]
        for block in blocks { kept[block] = try frames(DecodedCapture(Array(capture[..<block]), options: options)) }
        #expect(kept[capture.count]?.count == 6)
        for place in capture.indices {
            await Task.yield()
            let piece = Bool.random(using: &generator) ? Int.max : .random(in: 1...200, using: &generator)
            var flipped = capture
            flipped[place] ^= Bool.random(using: &generator) ? .random(in: 1...255, using: &generator) : 0xff
            try expectKept(flipped, damagedAt: place, kept: kept, "flip at \(place), seed \(seed)", piece: piece)
            guard place % 3 == 0 else { continue }
            var longer = capture
            longer.insert(contentsOf: generator.bytes(.random(in: 1...9, using: &generator)), at: place)
            try expectKept(longer, damagedAt: place, kept: kept, "insertion at \(place), seed \(seed)", piece: piece)
        }
    }

    @Test func aCutIsSaidWhereItIs() throws {
        for end in 0...capture.count {
            let decoded = DecodedCapture(Array(capture[..<end]), options: options)
            if blocks.contains(end), end > 0 {
                #expect(decoded.damage == nil, "cut at \(end): \(String(describing: decoded.damage))")
            } else {
                let damage = try #require(decoded.damage, "cut at \(end)")
                #expect(
                    damage.offset <= end && damage.offset >= blocks.last { $0 <= end } ?? 0, "cut at \(end): \(damage)")
            }
        }
    }

    @Test func randomBytesAreNoCapture() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let magics: [[UInt8]] = [
            [], [0x0a, 0x0d, 0x0d, 0x0a], [0xd4, 0xc3, 0xb2, 0xa1], [0xa1, 0xb2, 0xc3, 0xd4], [0x4d, 0x3c, 0xb2, 0xa1],
            Array(capture.prefix(blocks[2])),
        ]
        for round in 0..<600 {
            let bytes = magics[round % magics.count] + generator.bytes(.random(in: 0...400, using: &generator))
            let decoded = DecodedCapture(bytes, options: options, piece: .random(in: 1...64, using: &generator))
            let hasError = decoded.damage.map { (0...bytes.count).contains($0.offset) }
            #expect(hasError != false, "round \(round), seed \(seed)")
            if round % magics.count == 0 {
                #expect(decoded.damage?.kind == .notACapture || bytes.count < 4, "seed \(seed)")
            }
        }
    }
}

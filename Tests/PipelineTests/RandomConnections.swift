import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Some connections at once, whose chunks, gaps and ends come in any order.
enum RandomConnections {
    static let frames: [String: [[UInt8]]] = [
        "len16-id": [
            [0, 10, 0, 3, 0, 10, 5, 120, 120, 120, 120, 120], [0, 3, 0, 1, 0], [0, 7, 0, 4, 0, 10, 2, 97, 98],
            [0xff, 0xff, 1],
        ],
        "line": ["hello\n", "PING\r\n", "a longer line of text\n", "\n"].map { Array($0.utf8) },
        "marker": ["ab1381222333", "abhello", "more", "\u{0}\u{1}"].map { Array($0.utf8) },
        "im-json": [
            "{\"type\":\"heartbeat\",\"size\":0}\r\n", "{\"type\":\"text\",\"size\":2}\r\nab", "{\"type\":\"ping\"}",
            "nothing",
        ].map { Array($0.utf8) },
    ]

    /// What came of it.
    struct Run {
        var lines: String
        /// How much memory was held after each event.
        var held: [Int]
        /// How often a connection was packed.
        var rests = 0
    }

    /// Decodes them.
    ///
    /// - Parameters:
    ///   - limit: of memory, in bytes.
    ///   - detections: how many formats may be looked for at once.
    ///   - rests: whether connections are packed now and then.
    static func run(
        _ name: String, isNamed: Bool, limit: Int, seed: UInt64, keepsUndecided: Bool = true, detections: Int = 1_024,
        rests: Bool = false
    ) throws -> Run {
        var generator = SeededGenerator(seed: seed)
        let choice: DecodingOptions.Choice =
            isNamed
            ? .fixed(try #require(try BuiltInFormats.format(named: name))) : .automatic(try BuiltInFormats.all())
        var options = DecodingOptions(choice)
        options.memoryLimit = limit
        options.keepsUndecided = keepsUndecided
        options.awakeDetections = detections
        let output = MemoryOutput()
        let decoder = Decoder(options, sinks: [NDJSONWriter(to: output, source: "-", tool: "test")])
        var now = Timestamp(seconds: 1_795_248_000, nanoseconds: 0)
        var run = Run(lines: "", held: [])
        var rest = SeededGenerator(seed: seed &+ 1)
        let ends = Endpoint(IPAddress(v4: 0x7f00_0001), 9_000)
        let receiver = RestingReceiver(decoder) { rests && Bool.random(using: &rest) }
        var open = (1...3).map { number in
            receiver.open(
                Opening(
                    number: number, time: now, client: ends, server: ends,
                    handshake: Bool.random(using: &generator)))
        }
        var waiting = [[UInt8]](repeating: [], count: 6)
        for packet in 1...40 where !open.isEmpty {
            now = now + Interval(nanoseconds: [1_000, 10_000_000, 3_000_000_000].randomElement(using: &generator) ?? 0)
            decoder.advance(to: now)
            let number = Int.random(in: open.indices, using: &generator)
            let direction: Direction = Bool.random(using: &generator) ? .fromClient : .fromServer
            switch Int.random(in: 0..<20, using: &generator) {
            case 0: open[number].missing(Int.random(in: 1...9, using: &generator), from: direction, at: now)
            case 1: open[number].noticed(.idle, from: direction, at: now, packet: packet)
            default:
                let place = 2 * number + (direction == .fromClient ? 0 : 1)
                while waiting[place].count < 40 {
                    waiting[place] += Self.frames[name]?.randomElement(using: &generator) ?? []
                }
                let count = [1, 2, 5, 12, 30].randomElement(using: &generator) ?? 1
                let chunk = Array(waiting[place].prefix(count))
                waiting[place].removeFirst(count)
                open[number].received(chunk.span.bytes, from: direction, at: now, packet: packet)
            }
            run.held.append(decoder.heldMemory)
        }
        for connection in open {
            for direction in Direction.allCases where Bool.random(using: &generator) {
                connection.finished(.fin, from: direction, at: now)
            }
            connection.closed(Closing(reason: .endOfInput, by: nil, time: now))
        }
        open = []
        decoder.finish()
        (run.lines, run.rests) = (output.text, receiver.rests)
        return run
    }
}

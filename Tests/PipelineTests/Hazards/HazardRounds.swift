import Analysis
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Shared by the tests of the hazards: each compares the report with the published receivers themselves.
enum HazardRounds {
    /// An event on the connections of one server.
    enum Event {
        /// Bytes of one read.
        case read([UInt8], Direction, connection: Int)
        /// The end of a connection.
        case end(connection: Int)
        /// This much later.
        case pause(Interval)
    }

    /// A frame, or unframed bytes.
    struct Place: Hashable {
        var connection = 1
        var from = Direction.fromClient
        /// The frame's number; nil if the bytes are unframed.
        var index: Int?
        var offset: Int
        var length: Int
    }

    /// The trace of a stream.
    struct Traced {
        /// Its frames and unframed bytes, in order.
        var items: [Place] = []
        /// The reason bytes are unframed, by their offset.
        var reasons: [Int: String] = [:]
        /// The items for which a hazard is reported, in order; unframed bytes as far as they were reported.
        var reported: [Place] = []

        /// The indices of the frames that were reported.
        var frames: [Int] { reported.compactMap(\.index) }
        /// The index of the first frame or run that was reported.
        var firstItem: Int? { items.firstIndex { item in reported.contains { $0.offset == item.offset } } }
        /// The offset of the first reported item.
        var first: Int? { reported.map(\.offset).min() }
    }

    private static let formats = Result { try BuiltInFormats.all() }

    /// A built-in format; all are loaded once.
    static func format(_ name: String) throws -> Format {
        try #require(try formats.get().first { $0.name == name })
    }

    /// Decodes the events, and returns the reports of a hazard.
    static func trace(_ hazard: Hazard, _ format: String, _ events: [Event]) throws -> Traced {
        var options = DecodingOptions(.fixed(try Self.format(format)))
        // Bytes that may be the beginning of TLS would be held, and others overtake them.
        options.tls = nil
        options.findsHazards = true
        let output = MemoryOutput()
        let decoder = Decoder(options, sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        let loopback = IPAddress(v4: 0x7f00_0001)
        var time = Timestamp(nanoseconds: 0)
        var open: [Int: any ConnectionReceiver] = [:]
        func end(_ number: Int) {
            guard let connection = open.removeValue(forKey: number) else { return }
            connection.finished(.fin, from: .fromClient, at: time)
            connection.finished(.fin, from: .fromServer, at: time)
            connection.closed(Closing(reason: .fin, by: .fromClient, time: time))
        }
        for event in events {
            switch event {
            case .pause(let interval):
                time = time + interval
                decoder.advance(to: time)
            case .end(let number): end(number)
            case .read(let bytes, let direction, let number):
                if open[number] == nil {
                    let client = Endpoint(loopback, UInt16(1_000 + number))
                    let server = Endpoint(loopback, 2)
                    open[number] = decoder.open(
                        Opening(number: number, time: time, client: client, server: server))
                }
                open[number]?.received(bytes.span.bytes, from: direction, at: time, packet: 0)
            }
        }
        for number in open.keys.sorted() { end(number) }
        decoder.finish()
        return try read(output.text, hazard)
    }

    /// The same for the chunks of one stream.
    static func trace(
        _ hazard: Hazard, _ format: String, _ chunks: [[UInt8]], from direction: Direction
    ) throws -> Traced {
        try trace(hazard, format, chunks.map { .read($0, direction, connection: 1) })
    }

    private static func read(_ text: String, _ hazard: Hazard) throws -> Traced {
        var traced = Traced()
        for line in try traceLines(text) {
            let from: Direction = line.from == "server" ? .fromServer : .fromClient
            func place(_ number: (String) -> Int?) -> Place? {
                guard let offset = number("offset"), let length = number("length") else { return nil }
                return Place(
                    connection: line.connection, from: from, index: number("index"), offset: offset, length: length)
            }
            switch line.event {
            case "frame", "unframed":
                guard let place = place({ line[number: $0] }) else { continue }
                traced.items.append(place)
                if line.event == "unframed" { traced.reasons[place.offset] = line["reason"] }
            case "finding" where line.text(of: "data", "hazard") == hazard.rawValue:
                if let place = place({ line.number($0, of: "data") }) { traced.reported.append(place) }
            default: continue
            }
        }
        return traced
    }

    /// The first frame at which a receiver's results differ from the data sent; nil if there is none.
    ///
    /// - Parameter lastIsCut: whether the last one is incomplete: nothing should have been read from it.
    static func firstFailure(_ bodies: [[UInt8]], _ made: [[UInt8]?], lastIsCut: Bool = false) -> Int? {
        let right = zip(bodies, made).prefix { $0 == $1 }.count
        let due = bodies.count - (lastIsCut ? 1 : 0)
        return right < due || made.count > due ? right : nil
    }

    /// Truncates the last frame, one time in four.
    static func cutEnd(of frames: inout [[UInt8]], using generator: inout SeededGenerator) -> Bool {
        guard let last = frames.last, last.count > 1, Int.random(in: 0..<4, using: &generator) == 0 else {
            return false
        }
        frames[frames.count - 1] = Array(last.prefix(Int.random(in: 1..<last.count, using: &generator)))
        return true
    }

    /// Splits bytes at random, often near the ends of frames.
    static func cut(_ frames: [[UInt8]], using generator: inout SeededGenerator) -> [[UInt8]] {
        let bytes = frames.flatMap { $0 }
        var cuts: Set<Int> = []
        var end = 0
        for frame in frames {
            if Bool.random(using: &generator) { cuts.insert(end + Int.random(in: 0...frame.count, using: &generator)) }
            end += frame.count
            if Int.random(in: 0..<4, using: &generator) > 0 { cuts.insert(end) }
        }
        let places = [0] + cuts.filter { $0 > 0 && $0 < bytes.count }.sorted() + [bytes.count]
        return zip(places, places.dropFirst()).map { Array(bytes[$0..<$1]) }
    }

    static func body(_ most: Int, using generator: inout SeededGenerator) -> [UInt8] {
        (0..<Int.random(in: 0...most, using: &generator)).map { _ in UInt8.random(in: 0x61...0x7a, using: &generator) }
    }

    static func frame(
        _ format: String, _ direction: Direction, _ fields: [Field], _ body: [UInt8]
    ) throws -> [UInt8] {
        try Self.format(format).directions[direction].encode(fields, body: body)
    }

    /// Checks many times; a check returns whether a receiver failed, which must happen often, but not always.
    static func rounds(
        _ count: UInt64 = 150, sourceLocation: SourceLocation = #_sourceLocation,
        _ check: (inout SeededGenerator, UInt64) throws -> Bool
    ) async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var failures = 0
        for round in 0..<count {
            await Task.yield()
            var generator = SeededGenerator(seed: seed &+ round)
            if try check(&generator, seed &+ round) { failures += 1 }
        }
        let isMixed = (Int(count) / 15...Int(count) - 5).contains(failures)
        #expect(isMixed, "\(failures) of \(count) go wrong, seed \(seed)", sourceLocation: sourceLocation)
    }
}

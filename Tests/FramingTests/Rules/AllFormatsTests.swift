import Foundation
import Framing
import Streams
import Testing

/// Every format of the repository on garbage with its frames mixed in: with gaps, evictions, and picked up mid-stream.
@Suite struct AllFormatsTests {
    /// An event that happens to a stream at an offset, however it is segmented.
    private enum Incident {
        case gap(Int)
        case eviction
    }

    private static let root = #filePath.split(separator: "/").dropLast(4).reduce("") { $0 + "/" + $1 }

    private static func formats() throws -> [Format] {
        var formats: [Format] = []
        for folder in ["Sources/Framing/Formats", "docs/examples"] {
            for file in try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(folder)").sorted()
            where file.hasSuffix(".yaml") {
                let yaml = try String(contentsOfFile: "\(root)/\(folder)/\(file)", encoding: .utf8)
                formats.append(try FormatLoader.load(yaml, file: file))
            }
        }
        return formats
    }

    /// Frames that the encoder cannot build from a body alone.
    private static let samples: [String: [[UInt8]]] = [
        "mqtt": [[0x30, 5, 0, 1, 0x61, 0x68, 0x69], [0xc0, 0], [0x40, 2, 0, 1]],
        "postgresql": [
            Array("Q\0\0\0\u{8}abc\0".utf8), Array("Z\0\0\0\u{5}I".utf8), [0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f],
        ],
        "redis": [Array("*1\r\n$4\r\nPING\r\n".utf8), Array("+OK\r\n".utf8), Array(":1\r\n$-1\r\n".utf8)],
        "json-envelope": [Array("{\"a\":[1,2]}".utf8), Array("[{\"b\":\"}\"}] ".utf8)],
        "json-sequence": [Array("{\"a\":[1,2]}".utf8), Array("[{\"b\":\"}\"}] ".utf8)],
        "websocket": [Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8), [0x81, 1, 0x61], [0x89, 0]],
        "http": [
            Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8),
            Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc".utf8),
        ],
        "smtp": [Array("MAIL FROM:<a@b>\r\n".utf8), Array("250-a\r\n250 b\r\n".utf8), Array("354 go\r\n".utf8)],
        "mysql": [[1, 0, 0, 0, 14], [7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0]],
        "ldap": [[0x30, 12, 2, 1, 1, 0x60, 7, 2, 1, 3, 4, 0, 0x80, 0]],
        "nats": [Array("PUB a 3\r\nabc\r\n".utf8), Array("MSG a 1 3\r\nabc\r\n".utf8)],
        "irc": [Array("PING :a\r\n".utf8), Array(":ann!a@b PRIVMSG #c :hi there\r\n".utf8)],
        "stomp": [Array("SEND\ndestination:/a\n\nhi\0".utf8), Array("RECEIPT\nreceipt-id:1\n\n\0\n".utf8)],
        "fix": [Array("8=FIX.4.2\u{1}9=5\u{1}35=0\u{1}10=161\u{1}".utf8)],
        "rtmp": [
            [3, 0, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0x61, count: 1_528),
            [2, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0, 0, 9], [0x42, 0, 0, 1, 0, 0, 2, 8, 1, 2],
        ],
        "im-json": [Array("{\"type\":\"txt\",\"size\":\"3\"}\r\nabc".utf8), Array("{\"size\":2,x}\r\nab".utf8)],
    ]

    private static func stream(_ format: Format, _ direction: Direction, _ generator: inout SeededGenerator) -> [UInt8]
    {
        let codec = format.directions[direction]
        var frames = samples[format.name] ?? []
        for count in [0, 3, 20] {
            let body = (0..<count).map { _ in UInt8.random(in: 0x61...0x7a, using: &generator) }
            if let frame = try? codec.encode([], body: body) { frames.append(frame) }
        }
        // The bytes of the frames are used to make garbage that looks like them.
        let alphabet = Array(frames.joined()) + [0, 0xff]
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 2...9, using: &generator) {
            let frame = frames.randomElement(using: &generator) ?? []
            let count = Int.random(in: 1...40, using: &generator)
            switch Int.random(in: 0...5, using: &generator) {
            case 0: bytes += (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            case 1: bytes += (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            case 2: bytes += frame.prefix(count)
            case 3: bytes += [UInt8](repeating: alphabet.randomElement(using: &generator) ?? 0, count: 9 * count)
            default: bytes += frame + frame
            }
        }
        return bytes
    }

    /// Frames a stream split at these offsets, with these events.
    private func framed(
        _ bytes: [UInt8], at cuts: [Int], _ incidents: [(offset: Int, what: Incident)], _ rule: any FramingRule,
        _ direction: Direction, aligned: Bool
    ) -> (log: FramedLog, counts: ByteCounts) {
        let (log, scratch, time) = (FramedLog(), FramingScratch(), Timestamp(nanoseconds: 0))
        var framer = Framer(rule: rule, direction: direction, aligned: aligned)
        let bounds = Set(cuts + incidents.map(\.offset) + [0, bytes.count]).sorted()
        for (start, end) in zip(bounds, bounds.dropFirst() + [bytes.count]) {
            for incident in incidents where incident.offset == start {
                switch incident.what {
                case .gap(let count): framer.missing(count, at: time, scratch: scratch, into: log)
                case .eviction: framer.evict(because: "the limit was reached", scratch: scratch, into: log)
                }
            }
            guard start < end else { continue }
            let piece = Array(bytes[start..<end])
            framer.receive(piece.span.bytes, at: time, packet: 1, scratch: scratch, into: log)
        }
        framer.finish(scratch: scratch, into: log)
        #expect(framer.heldBytes == 0)
        return (log, framer.counts)
    }

    /// Four bytes show that no frame starts there, although a header of 62 is awaited when they arrive one by one.
    @Test func aBadHeadIsOneHoweverItCameBeforeAGap() throws {
        let header =
            "header: [{ magic: { type: u32, equals: 0x20170817 } }, { to: { type: string, size: 54 } }, { n: u32 }]"
        let yaml = "format: x\n\(header)\nframing: { rule: length-field, field: n }"
        let rule = try FormatLoader.load(yaml, file: "x.yaml").directions.fromClient.rule
        let bytes: [UInt8] = [0x20, 0x17, 0x08, 0x20, 1, 1]
        for incident in [Incident.gap(5), .eviction] {
            let all = [(offset: 6, what: incident)]
            let whole = framed(bytes, at: [], all, rule, .fromClient, aligned: true)
            let pieces = framed(bytes, at: Array(0..<6), all, rule, .fromClient, aligned: true)
            #expect(whole.log.results == pieces.log.results && whole.counts == pieces.counts)
            guard case .unframed(0, _, .badHead, _)? = pieces.log.results.first else {
                Issue.record("\(pieces.log.results)")
                continue
            }
        }
    }

    @Test func anyCuttingGivesTheSameAndTheBytesAddUp() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let formats = try Self.formats()
        #expect(formats.count >= 19)
        var frames: [String: Int] = [:]
        let rounds = 5
        for (format, direction) in formats.flatMap({ format in Direction.allCases.map { (format, $0) } }) {
            for round in 0..<rounds {
                let bytes = Self.stream(format, direction, &generator)
                let rule = format.directions[direction].rule
                let incidents = (0..<Int.random(in: 0...2, using: &generator)).map { _ in
                    let what = Bool.random(using: &generator) ? Incident.eviction : .gap(1 + round * 7)
                    return (offset: Int.random(in: 0...bytes.count, using: &generator), what: what)
                }
                var length = bytes.count
                for case (_, .gap(let count)) in incidents { length += count }
                let whole = framed(bytes, at: [], incidents, rule, direction, aligned: round % 2 == 0)
                let place = "\(format.name) \(direction), round \(round), seed \(seed)"
                #expect(whole.counts.bytes == length, "\(place)")
                frames[format.name, default: 0] += whole.log.frames.count
                let random = (0..<8).map { _ in Int.random(in: 0...bytes.count, using: &generator) }
                for cuts in [Array(0..<bytes.count), random, [random[0]]] {
                    let pieces = framed(bytes, at: cuts, incidents, rule, direction, aligned: round % 2 == 0)
                    #expect(pieces.counts.bytes == length, "\(place)")
                    // Frames of the rule `chunk` are the chunks themselves.
                    if format.directions[direction].rule.dependsOnCutting { continue }
                    let isSame = pieces.log.results == whole.log.results && pieces.counts == whole.counts
                    #expect(isSame, "\(place)")
                }
            }
        }
        // Few of the random streams of some formats have any.
        for format in formats where frames[format.name, default: 0] == 0 {
            for direction in Direction.allCases.flatMap({ [Direction](repeating: $0, count: 40) }) {
                let bytes = Self.stream(format, direction, &generator)
                let whole = framed(bytes, at: [], [], format.directions[direction].rule, direction, aligned: true)
                frames[format.name, default: 0] += whole.log.frames.count
            }
        }
        let without = formats.filter { frames[$0.name, default: 0] == 0 }.map(\.name)
        #expect(without.isEmpty, "no frames of \(without), seed \(seed)")
    }
}

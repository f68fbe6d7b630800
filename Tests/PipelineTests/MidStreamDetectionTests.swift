import Framing
import Streams
import TestSupport
import Testing

@testable import Pipeline

/// A connection that runs already is recognized while it runs, though strong formats, which are never ruled out there, may still come.
@Suite struct MidStreamDetectionTests {
    private func plans(withExamples: Bool = false) throws -> [TrialPlan] {
        let examples = withExamples ? try ExampleFormats.recognised() : []
        return try (BuiltInFormats.allWithVariants() + examples).compactMap { TrialPlan($0) }
    }

    /// The frames of a format, one after the other, without its first bytes.
    private func stream(
        _ kind: String, frames: Int, within: Bool, using generator: inout SeededGenerator
    ) -> [UInt8] {
        var stream: [UInt8] = []
        for index in 0..<frames {
            let body = (0..<Int.random(in: 4...30, using: &generator)).map { _ in
                UInt8.random(in: UInt8(ascii: "a")...UInt8(ascii: "z"), using: &generator)
            }
            let text = String(decoding: body, as: UTF8.self)
            switch kind {
            case "im-json": stream += Array("{\n \"type\" : \"txt\",\n \"size\" : \"\(body.count)\"\n}\r\n\(text)".utf8)
            case "json-envelope": stream += Array("{\"head\":\"chat\",\"text\":\"\(text)\"}".utf8)
            case "pretty": stream += Array("{\n  \"head\": \"chat\",\n  \"text\": \"\(text)\"\n}\n".utf8)
            case "tlv32":
                stream += [UInt8(8 + body.count), 0, 0, 0, UInt8.random(in: 1...4, using: &generator), 0, 0, 0] + body
            case "len16-id":
                stream += [0, UInt8(5 + body.count), 0, UInt8(index % 3 + 1), 0, 0x0a, UInt8(body.count)] + body
            case "tls": stream += records(1, of: 20...600, using: &generator)
            case "line": stream += body + [UInt8(ascii: "\n")]
            default: Issue.record("no frames of \(kind)")
            }
        }
        if within { stream.removeFirst(Int.random(in: 1...9, using: &generator)) }
        return stream
    }

    /// Feeds both sides in turn; returns the format, and after how many bytes it was chosen, or nothing if at the end.
    private func recognise(
        _ streams: PerDirection<[UInt8]>, _ plans: [TrialPlan], defers: Bool = true, sleeps: Bool = false,
        most: Int, using generator: inout SeededGenerator
    ) -> (format: String, seen: Int?) {
        let detection = Detection(plans, aligned: false, limit: 65_536, port: 1, defers: defers)
        var at = PerDirection(fromClient: 0, fromServer: 0)
        while true {
            let isOver = Direction.allCases.allSatisfy { at[$0] == streams[$0].count }
            if isOver { return (detection.conclude()?.0.format.name ?? "none", nil) }
            for direction in Direction.allCases where at[direction] < streams[direction].count {
                let end = min(streams[direction].count, at[direction] + Int.random(in: 1...most, using: &generator))
                let chunk = Array(streams[direction][at[direction]..<end])
                at[direction] = end
                let time = Timestamp(nanoseconds: 0)
                if let choice = detection.receive(chunk.span.bytes, from: direction, at: time, packet: 0) {
                    return (choice.0.format.name, at.fromClient + at.fromServer)
                }
                if sleeps { detection.sleep() }
            }
        }
    }

    @Test(arguments: ["im-json", "json-envelope", "tlv32", "len16-id", "line"], [false, true])
    func formatsAreChosenOnTheWay(kind: String, isAlone: Bool) throws {
        let plans = try plans()
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for within in [false, true] {
            let client = stream(kind, frames: 200, within: within, using: &generator)
            let server = isAlone ? [] : stream(kind, frames: 200, within: within, using: &generator)
            let streams = PerDirection(fromClient: client, fromServer: server)
            let (format, seen) = recognise(streams, plans, most: 100, using: &generator)
            #expect(format == kind, "seed \(seed)")
            // The rest of a frame may look like the beginning of a long one.
            if within, kind == "tlv32" || kind == "len16-id" { continue }
            #expect((seen ?? .max) <= (kind == "im-json" ? 1_000 : 9_000), "seed \(seed), within \(within)")
        }
    }

    /// Text whose first two letters are the length of a frame of 25 KB: frames are searched for before that has ended.
    @Test(arguments: [false, true]) func aStreamMayBeginWithinABody(isAlone: Bool) throws {
        let plans = try plans()
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        func side() -> [UInt8] {
            // A head has 7 bytes, and a body at least 4.
            Array(stream("len16-id", frames: 600, within: false, using: &generator).dropFirst(8))
        }
        let streams = PerDirection(fromClient: side(), fromServer: isAlone ? [] : side())
        let (format, seen) = recognise(streams, plans, most: 100, using: &generator)
        #expect(format == "len16-id" && (seen ?? .max) <= 9_000, "seed \(seed), seen \(seen ?? -1)")
    }

    /// Segments, trials that begin late and sleep change nothing.
    @Test(arguments: [false, true]) func theChoiceDependsOnTheBytesAlone(withExamples: Bool) throws {
        let plans = try plans(withExamples: withExamples)
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var (found, onTheWay): (Set<String>, Int) = ([], 0)
        let kinds = ["im-json", "json-envelope", "tlv32", "pretty", "len16-id", "line", "tls"]
        for round in 0..<(withExamples ? 6 : 16) {
            func random() -> [UInt8] {
                var bytes: [UInt8] = []
                for _ in 0..<Int.random(in: 0...3, using: &generator) {
                    let kind = kinds[Int.random(in: 0..<kinds.count, using: &generator)]
                    let frames = Int.random(in: 1...120, using: &generator)
                    bytes += stream(kind, frames: frames, within: Bool.random(using: &generator), using: &generator)
                }
                return bytes
            }
            // The first ones are recognized on the way.
            let isKnown = round < 3
            let streams = PerDirection(
                fromClient: isKnown
                    ? stream(kinds[round], frames: 200, within: false, using: &generator) : random(),
                fromServer: isKnown || Bool.random(using: &generator) ? [] : random())
            // One side after the other: which of them is further is part of what is seen.
            let expected = recognise(streams, plans, defers: false, most: 1, using: &generator)
            let late = recognise(streams, plans, most: 1, using: &generator)
            #expect(late == expected, "seed \(seed)")
            let asleep = recognise(streams, plans, sleeps: true, most: 1, using: &generator)
            #expect(asleep.format == expected.format, "seed \(seed)")
            if !streams.fromServer.isEmpty { continue }
            let cut = recognise(streams, plans, most: 1_500, using: &generator)
            #expect(cut.format == expected.format, "seed \(seed)")
            if expected.seen != nil { onTheWay += 1 }
            found.insert(expected.format)
        }
        #expect(found.count > 2 && onTheWay > 0, "seed \(seed): \(found), \(onTheWay)")
    }

    /// A text is no text protocol if a stronger format's frame may have begun before it: neither a few long lines are enough, nor many short
    /// ones.
    @Test(arguments: [(1, 10), (40, 30), (200, 3)]) func textBeforeAHeadIsABody(lines: Int, length: Int) throws {
        let plans = try plans()
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let text = String(repeating: String(repeating: "x", count: length) + "\n", count: lines)
        let bytes = Array(text.utf8) + stream("im-json", frames: 20, within: false, using: &generator)
        let streams = PerDirection(fromClient: bytes, fromServer: bytes)
        let (format, seen) = recognise(streams, plans, most: 100, using: &generator)
        #expect(format == "im-json" && seen != nil, "seed \(seed)")
    }

    /// Nor are the lines of an object that is not complete.
    @Test func linesOfAnObjectAreNoText() throws {
        let plans = try plans()
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let object = "{\n" + (0..<300).map { "  \"member-\($0)\": \"value\",\n" }.joined() + "  \"last\": true\n}\n"
        let bytes = Array(String(repeating: object, count: 9).utf8)
        let streams = PerDirection(fromClient: bytes, fromServer: [])
        let (format, _) = recognise(streams, plans, most: 700, using: &generator)
        #expect(format == "json-envelope", "seed \(seed)")
    }

    /// Records of encrypted data, one after the other.
    private func records(_ count: Int, of lengths: ClosedRange<Int>, using generator: inout SeededGenerator) -> [UInt8]
    {
        (0..<count).flatMap { _ -> [UInt8] in
            let length = Int.random(in: lengths, using: &generator)
            return [23, 3, 3, UInt8(length >> 8), UInt8(length & 255)] + generator.bytes(length)
        }
    }

    /// A stream of TLS is named once two heads of records follow one another, within a record or not.
    @Test(arguments: [40...400, 16_401...16_401], [false, true])
    func recordsOfTLSAreNamed(lengths: ClosedRange<Int>, isAlone: Bool) throws {
        let plans = try plans()
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let count = 400_000 / (lengths.lowerBound + lengths.upperBound)
        func side() -> [UInt8] {
            let records = records(count, of: lengths, using: &generator)
            return Array(records.dropFirst(Int.random(in: 0..<lengths.lowerBound, using: &generator)))
        }
        let streams = PerDirection(fromClient: side(), fromServer: isAlone ? [] : side())
        let (format, seen) = recognise(streams, plans, most: 1_500, using: &generator)
        #expect(format == "tls", "seed \(seed)")
        #expect((seen ?? .max) <= 2 * (lengths.upperBound > 16_384 ? 34_500 : 6_000), "seed \(seed)")
        // Few bytes are enough if no more follow.
        let short = PerDirection(fromClient: records(2, of: 40...400, using: &generator), fromServer: [])
        #expect(recognise(short, plans, most: 100, using: &generator) == ("tls", nil), "seed \(seed)")
    }

    /// Records in the bodies of frames do not make a stream TLS.
    @Test(arguments: ["tlv32", "im-json"]) func framesMayCarryTLS(kind: String) throws {
        let plans = try plans()
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let frames = (0..<100).flatMap { _ -> [UInt8] in
            let body = records(3, of: 100...200, using: &generator)
            let size = 8 + body.count
            let head =
                kind == "tlv32"
                ? [UInt8(size & 255), UInt8(size >> 8), 0, 0, 1, 0, 0, 0]
                : Array("{\n \"type\" : \"img\",\n \"size\" : \"\(body.count)\"\n}\r\n".utf8)
            return head + body
        }
        for within in [0, 50] {
            let streams = PerDirection(fromClient: Array(frames.dropFirst(within)), fromServer: [])
            #expect(recognise(streams, plans, most: 1_500, using: &generator).format == kind, "seed \(seed)")
        }
    }
}

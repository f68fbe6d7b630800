import Framing
import Streams
import TestSupport
import Testing
import Trace

@testable import Pipeline

/// Formats that cannot be in the few bytes of a stream that was picked up mid-stream have no trial.
@Suite struct ImpossibleFormatTests {
    /// Those that are known, and one that only the client's side is evidence of.
    private func plans() throws -> [TrialPlan] {
        let oneSided = try FormatLoader.load(
            """
            format: one-sided
            header: [{ length: u16 }, { id: u16 }, { flag: u8 }]
            framing: { rule: length-field, field: length, counts: rest }
            detect: { evidence: three frames, strength: 30, frames: 3, from: client, when: fields.id < 4096 }

            """, file: "one-sided")
        return try (BuiltInFormats.allWithVariants() + ExampleFormats.recognised() + [oneSided]).compactMap {
            TrialPlan($0)
        }
    }

    @Test func aTrialWouldNotHaveRecognisedThem() throws {
        let plans = try plans()
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var (dropped, recognised) = (0, 0)
        for _ in 0..<300 {
            let kind = Int.random(in: 0..<7, using: &generator)
            // The other side may be silent, or send something else.
            let other = Int.random(in: 0..<4, using: &generator) == 0 ? 0 : kind
            let streams = PerDirection(
                fromClient: stream(kind, using: &generator),
                fromServer: Bool.random(using: &generator) ? stream(other, using: &generator) : [])
            for plan in plans {
                let candidate = Candidate(plan, aligned: false)
                for direction in Direction.allCases {
                    let stream = streams[direction]
                    candidate.receive(stream.span.bytes, from: direction)
                }
                for direction in Direction.allCases { candidate.finish(direction) }
                let isRecognised = candidate.conclusion != nil
                if isRecognised { recognised += 1 }
                guard !plan.mayFit(midStream: streams) else { continue }
                dropped += 1
                #expect(!isRecognised, "\(plan.format.label), seed \(seed): \(streams)")
            }
        }
        #expect(dropped > 1_000)
        #expect(recognised > 20)
    }

    /// With gaps, and in any segments, a detection that drops them recognizes what one does that tries all formats.
    @Test func detectionIsTheSame() throws {
        let plans = try plans()
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var recognised = 0
        for _ in 0..<150 {
            let kind = Int.random(in: 0..<7, using: &generator)
            var pieces: [(direction: Direction, bytes: [UInt8], isMissing: Bool)] = []
            for direction in Direction.allCases {
                var stream = stream(kind, using: &generator)
                while !stream.isEmpty {
                    let piece = Array(stream.prefix(.random(in: 1...30, using: &generator)))
                    stream.removeFirst(piece.count)
                    pieces.append((direction, piece, Int.random(in: 0..<5, using: &generator) == 0))
                }
            }
            func choice(defers: Bool) -> String {
                let detection = Detection(plans, aligned: false, limit: 8_192, port: 1, defers: defers)
                let zero = Streams.Timestamp(nanoseconds: 0)
                for (direction, bytes, isMissing) in pieces {
                    let choice =
                        isMissing
                        ? detection.missing(bytes.count, from: direction, at: zero)
                        : detection.receive(bytes.span.bytes, from: direction, at: zero, packet: 0)
                    if let choice { return "at once: \(choice.0.format.name): \(choice.1.evidence)" }
                }
                return detection.conclude().map { "\($0.0.format.name): \($0.1.evidence)" } ?? "none"
            }
            let expected = choice(defers: false)
            #expect(choice(defers: true) == expected, "seed \(seed): \(pieces)")
            if expected != "none" { recognised += 1 }
        }
        #expect(recognised > 5)
    }

    /// A frame counts if bytes in its middle are missing: what was seen without them says nothing.
    @Test(arguments: 0..<4, 0..<4) func framesReachOverGaps(before: Int, after: Int) throws {
        let plans = try BuiltInFormats.allWithVariants().compactMap { TrialPlan($0) }
        let frame: [UInt8] = [0, 7, 0, 3, 0, 8, 1, 16, 1]
        let start = Array(repeatElement(frame, count: before).joined()) + [1, 44, 0, 3, 0, 65, 66]
        let end = Array(repeatElement(frame, count: after).joined())
        func choice(defers: Bool) -> String? {
            let detection = Detection(plans, aligned: false, limit: 8_192, port: 1, defers: defers)
            let zero = Streams.Timestamp(nanoseconds: 0)
            let choice =
                detection.receive(start.span.bytes, from: .fromClient, at: zero, packet: 0)
                ?? detection.missing(295, from: .fromClient, at: zero)
                ?? detection.receive(end.span.bytes, from: .fromClient, at: zero, packet: 0)
                ?? detection.conclude()
            return choice?.0.format.name
        }
        #expect(choice(defers: true) == choice(defers: false))
        if before + after >= 3 { #expect(choice(defers: true) == "len16-id") }
    }

    /// A few frames of one kind, cut anywhere.
    private func stream(_ kind: Int, using generator: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in 0..<UInt8.random(in: 1...8, using: &generator) {
            let body = (0..<Int.random(in: 0...20, using: &generator)).map { _ in
                UInt8.random(in: 0...9, using: &generator)
            }
            let size = UInt8(body.count)
            switch kind {
            case 0: bytes += body
            case 1: bytes += [0, 7, 0, 3, 0, 8, 1, 16, index]
            case 2: bytes += [size + 8, 0, 0, 0, 2, 0, 0, 0] + body
            case 3: bytes += Array("line \(index)\r\n".utf8)
            case 4: bytes += Array("{\"a\":\(index)}".utf8)
            case 5: bytes += Array("{\"size\":\"3\"}\r\nabc".utf8)
            default: bytes += Array("12310.300000".utf8)
            }
        }
        if Bool.random(using: &generator) { bytes.removeFirst(Int.random(in: 0...bytes.count, using: &generator)) }
        if Bool.random(using: &generator) { bytes.removeLast(Int.random(in: 0...bytes.count, using: &generator)) }
        return bytes
    }
}

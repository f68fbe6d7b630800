import Framing
import Interception
import Streams
import TestSupport
import Testing

/// Frames that are cut into writes, or joined in one.
@Suite struct SegmentationTests {
    private func play(_ rule: String, _ texts: [String], format name: String = "line") throws -> Played {
        let format = try #require(try BuiltInFormats.format(named: name))
        let pieces = texts.map { Conversations.Piece(bytes: Array($0.utf8), direction: .fromClient) }
        return try Played([try RuleFile.rule(rule, number: 1, format: format)], format, pieces, pace: .milliseconds(10))
    }

    private func writes(_ played: Played) -> [String] {
        played.writes.map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    @Test(arguments: [
        ("segment: every-byte", ["a", "b", "\n", "c", "\n"], "cut after byte 1, 2"),
        ("segment: at 1", ["a", "b\n", "c", "\n"], "cut after byte 1"),
        ("segment: at -1 9; nth: 1", ["ab", "\n", "c\n"], "cut after byte 2"),
        ("segment: every-byte; from: server", ["ab\nc\n"], ""),
        ("segment: merge 2; within: 1 s", ["ab\nc\n"], "2 frames in one write"),
        ("segment: merge 3; within: 1 s", ["ab\nc\n"], "2 frames in one write"),
        ("segment: merge-and-half 1; within: 1 s", ["ab\nc", "\n"], "1 frame and a half in one write"),
    ])
    func writes(rule: String, expected: [String], detail: String) throws {
        let played = try play(rule, ["ab\nc\n"])
        #expect(writes(played) == expected)
        #expect((played.reports.first?.detail ?? "") == detail, "\(played.reports)")
    }

    /// The report comes with the last cut, when it is known whether all of them are proven.
    @Test func aReportComesWithTheLastCut() throws {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        for text in ["merge-and-half 1", "every-byte", "merge 2"] {
            let rule = try RuleFile.rule("segment: \(text)", number: 1, format: format)
            var chain = try #require(RuleSet([rule], seed: 1).stages(of: 1, format: format))
            let start = Timestamp(nanoseconds: 0)
            let outputs = chain.take(.bytes(Array("ab\ncd\n".utf8), .fromClient), at: start)
            guard case .cut(.fromClient, report: .some)? = outputs.last else {
                return #expect(Bool(false), "\(text): \(outputs)")
            }
        }
    }

    /// Which frames it applies to, and what its report is about, is what the other rules leave.
    @Test func segmentationIsAboutWhatPasses() throws {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        let rules = try [
            "drop: body.text == \"a\"", "replace: { body: { text: bbb } }; when: body.text == \"b\"",
            "segment: at 1; nth: 2",
        ].enumerated().map { try RuleFile.rule($1, number: $0 + 1, format: format) }
        let piece = Conversations.Piece(bytes: Array("a\nb\ncc\n".utf8), direction: .fromClient)
        let played = try Played(rules, format, [piece])
        #expect(writes(played) == ["bbb\n", "c", "c\n"])
        let report = try #require(played.reports.last)
        #expect(report.action == "segment" && report.index == 1 && report.offset == 4 && report.length == 3)
    }

    /// Frames that come later than `within` are not waited for.
    @Test func mergingWaitsForSoLong() throws {
        let played = try play("segment: merge 3; within: 15 ms", ["a\n", "b\n", "c\n", "d\n"])
        #expect(writes(played) == ["a\nb\n", "c\nd\n"])
        #expect(played.writes.map(\.time) == [15, 35])
    }

    /// Fields are cut at both ends and inside, characters inside, delimiters inside.
    @Test func fieldsAndCharacters() throws {
        let played = try play("segment: fields", ["é\n"])
        #expect(played.writes.map(\.bytes) == [[0xc3], [0xa9], [0x0a]])
        let (format, pieces) = try Conversations.of("im-magic")
        let stream = pieces.filter { $0.direction == .fromClient }.flatMap(\.bytes)
        let frame = try #require(Framed(stream, .fromClient, format).frames.first)
        let rule = try RuleFile.rule("segment: fields; nth: 1; from: client", number: 1, format: format)
        let cut = try Played([rule], format, [Conversations.Piece(bytes: stream, direction: .fromClient)])
        #expect(cut.passed.fromClient == stream)
        var places: Set<Int> = []
        var end = 0
        for write in cut.writes {
            end += write.bytes.count
            places.insert(end)
        }
        #expect(
            places.isSuperset(of: [2, 4, frame.info.shape.head]),
            "inside and after the magic number: \(places.sorted())")
    }

    /// Whatever is cut or joined, the bytes stay as they are.
    @Test(arguments: BuiltInFormats.names) func theBytesStay(name: String) throws {
        let (format, pieces) = try Conversations.of(name)
        for text in ["every-byte", "fields", "random 4", "at 1 5", "merge 3", "merge-and-half 2"] {
            let rule = try RuleFile.rule("segment: \(text)", number: 1, format: format)
            let played = try Played([rule], seed: 9, format, pieces)
            for direction in Direction.allCases {
                let sent = pieces.filter { $0.direction == direction }.flatMap(\.bytes)
                #expect(played.passed[direction] == sent, "\(name) \(text)")
                #expect(played.ends[direction] == .fin)
            }
            #expect(try Played([rule], seed: 9, format, pieces).writes.map(\.bytes) == played.writes.map(\.bytes))
        }
    }

    @Test(arguments: ["every", "at", "at x", "merge 1", "merge", "random 0", "fields 3"])
    func whatIsNoSegmentation(text: String) {
        #expect(throws: FormatFileError.self) { try RuleFile.rule("segment: \(text)", number: 1, format: nil) }
    }
}

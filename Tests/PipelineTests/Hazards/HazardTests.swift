import Framing
import Pipeline
import TestSupport
import Testing

@testable import Systems

/// The known hazards, and where they are looked for.
@Suite struct HazardTests {
    @Test func everyHazardOfABuiltInFormatIsKnownAndAMisspeltOneIsRefused() throws {
        let names = Set(try BuiltInFormats.all().flatMap { $0.hazards.map(\.name) })
        #expect(names == Set(Hazard.allCases.map(\.rawValue)))
        #expect(throws: FormatFileError.self) {
            try FormatLoader.load("format: x\nframing: { rule: fixed, size: 4 }\nhazards: [split-frames]", file: "x")
        }
    }

    @Test(arguments: [
        ("{ hazard: split-frame, when: type == \"a\" }", "split-frame does not depend on what frames say"),
        ("always-failure", "always-failure needs when"), ("{ hazard: kept-buffer }", "lacks when"),
        ("{ hazard: kept-bufer, when: type == \"a\" }", "there is no hazard kept-bufer"),
        ("[[per-read]]", "found a list"),
    ]) func whatDependsOnFramesSaysWhichOnes(hazards: String, complaint: String) {
        let error = #expect(throws: FormatFileError.self) {
            try FormatLoader.load("format: x\nframing: { rule: fixed, size: 4 }\nhazards: \(hazards)", file: "x")
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains(complaint), "\(error.map { "\($0)" } ?? "nothing")")
    }

    @Test func everyHazardCanBeReproducedByThePeersOfItsFormat() throws {
        for format in try BuiltInFormats.all() {
            let peer = try #require(ReferencePeers.peer(for: format.name))
            #expect(peer.hazards == Set(format.hazards.map(\.name)), "\(format.name)")
        }
    }

    /// Only the texts of fixed size count. What is shorter than its header is no frame.
    @Test(arguments: [
        ("{ rule: fixed, size: 12 }", Array("abcd".utf8) + [0x80, 0, 0, 0] + Array("efgh".utf8), false),
        ("{ rule: fixed, size: 12 }", Array("abcd".utf8) + [0, 0, 0, 0] + Array("efé\0".utf8.prefix(4)), true),
        ("{ rule: escaped, start: 0x7e, end: 0x7e, escape: 0x7d }", [0x7e, 0x61, 0x7e], false),
        ("{ rule: escaped, start: 0x7e, end: 0x7e, escape: 0x7d }", [0x7e, 0xe1, 0xa1, 0x7e], false),
        ("{ rule: escaped, start: 0x7e, end: 0x7e, escape: 0x7d }", [0x7e] + Array("hellö".utf8) + [0x7e], false),
    ]) func wideIDsAreInTextsOfTheHeader(framing: String, bytes: [UInt8], isWide: Bool) throws {
        let format = try FormatLoader.load(
            """
            format: x
            header: [{ from: { type: string, size: 4 } }, { number: u32 }, { to: { type: string, size: 4 } }]
            framing: \(framing)
            hazards: wide-id
            """, file: "x")
        var options = DecodingOptions(.fixed(format))
        options.findsHazards = true
        let lines = try Conversation(bytes).decode(options).lines
        #expect(lines.contains { $0.event == (framing.contains("escaped") ? "unframed" : "frame") })
        #expect(lines.contains { $0.event == "finding" && $0.text(of: "data", "hazard") == "wide-id" } == isWide)
    }

    @Test func noneIsReportedUnlessSomebodyAsks() throws {
        let options = DecodingOptions(.automatic([]))
        #expect(options.extraAnalyses().isEmpty)
        #expect(!Decoder(options, sinks: []).wantsPackets)
    }
}

import Framing
import Pipeline
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

    @Test func noneIsToldUnlessSomebodyAsks() throws {
        let options = DecodingOptions(.automatic([]))
        #expect(options.extraAnalyses().isEmpty)
        #expect(!Decoder(options, sinks: []).wantsPackets)
    }
}

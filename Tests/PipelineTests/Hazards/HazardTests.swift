import Framing
import Pipeline
import Testing

@testable import Systems

/// The known hazards, and where they are looked for.
@Suite struct HazardTests {
    @Test func everyHazardOfABuiltInFormatIsKnownAndAMisspeltOneIsRefused() throws {
        let names = Set(try BuiltInFormats.all().flatMap(\.hazards))
        #expect(names == Set(Hazard.allCases.map(\.rawValue)))
        #expect(throws: FormatFileError.self) {
            try FormatLoader.load("format: x\nframing: { rule: fixed, size: 4 }\nhazards: [split-frames]", file: "x")
        }
    }

    @Test func everyHazardCanBeReproducedByThePeersOfItsFormat() throws {
        for format in try BuiltInFormats.all() {
            let peer = try #require(ReferencePeers.peer(for: format.name))
            #expect(peer.hazards == Set(format.hazards), "\(format.name)")
        }
    }

    @Test func noneIsToldUnlessSomebodyAsks() throws {
        let options = DecodingOptions(.automatic([]))
        #expect(options.extraAnalyses().isEmpty)
        #expect(!Decoder(options, sinks: []).wantsPackets)
    }
}

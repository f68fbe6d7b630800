import Foundation
import Framing
import Pipeline
import TestSupport
import Testing

/// A format that is recognised late gives what it gives when it is named: what was held passes as it would have passed.
@Suite struct LateRecognitionTests {
    private static let systems = [
        "im-magic", "json-envelope", "len16-id", "line", "marker", "text-heartbeat", "tlv32",
    ]

    @Test(arguments: systems) func everyLineIsThatOfTheNamedFormat(name: String) throws {
        let url = URL(filePath: #filePath).appending(path: "../../../fixtures/\(name)/conversation.pcap").standardized
        let capture = Array(try Data(contentsOf: url))
        let format = try #require(try BuiltInFormats.format(named: name))
        // The examples keep many candidates alive for longer.
        let candidates = try BuiltInFormats.allWithVariants() + ExampleFormats.recognised()
        let named = try DecodedCapture(capture, options: DecodingOptions(.fixed(format))).lines()
        let found = try DecodedCapture(capture, options: DecodingOptions(.automatic(candidates))).lines()
        let recognised = Set(found.filter { $0.event == "format" && $0["format"] == name }.map(\.connection))
        #expect(!recognised.isEmpty)
        for connection in recognised {
            for from in ["client", "server"] {
                func lines(_ trace: [TraceLine], _ events: Set<String>) -> [String] {
                    trace.filter { $0.connection == connection && $0.from == from && events.contains($0.event) }.map(
                        \.text)
                }
                let stream: Set = ["frame", "unframed", "missing"]
                #expect(lines(found, stream) == lines(named, stream), "connection \(connection), \(from)")
                #expect(
                    Set(lines(found, ["finding"])) == Set(lines(named, ["finding"])),
                    "connection \(connection), \(from)")
            }
        }
    }
}

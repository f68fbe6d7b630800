import Foundation
import FrametapCore
import Testing

/// The library, as its users see it: this imports nothing else of frametap.
@Suite struct CaptureDecodingTests {
    private static let fixtures = URL(filePath: #filePath).appending(path: "../../../fixtures").standardized.path

    private static func bytes(_ name: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(fixtures)/\(name)")))
    }

    /// Counts what it is shown.
    private final class Counts: TraceSink {
        var types: [String?: Int] = [:]
        var events: [FrameEvent] = []
        var bytes = 0
        var closed = 0

        func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
            types[connection.type(of: frame, bytes), default: 0] += 1
            if let event = FrameEvent(frame, bytes: bytes, on: connection) { events.append(event) }
            self.bytes += frame.info.length
        }

        func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
            closed += 1
        }
    }

    @Test(arguments: ["im-json/chat", "line/conversation", "tlv32/conversation"])
    func aFileIsWhatItsBytesAre(name: String) throws {
        let path = "\(Self.fixtures)/\(name).pcap"
        let decoding = try CaptureDecoding(format: String(name.prefix { $0 != "/" }))
        let events = try decoding.events(ofFile: path)
        #expect(events == (try decoding.events(of: try Self.bytes("\(name).pcap"), name: path)))
        // By its bytes it is the same, except for how the format was chosen.
        let recognised = try CaptureDecoding().events(ofFile: path)
        func frames(_ events: [TraceEvent]) -> [FrameEvent] {
            events.compactMap { if case .frame(let frame) = $0 { frame } else { nil } }
        }
        #expect(frames(recognised) == frames(events) && !frames(events).isEmpty)
    }

    @Test func aSinkSeesWhatEventsSay() throws {
        let decoding = try CaptureDecoding(format: "im-json")
        let path = "\(Self.fixtures)/im-json/chat.pcap"
        let (counts, output) = (Counts(), MemoryOutput())
        let lines = try #require(TraceForm.ndjson.sink(to: output, source: path, tool: "tests"))
        let summary = try decoding.read(file: path, to: [counts, lines])
        let events = try decoding.events(ofFile: path)
        let frames = events.compactMap { event -> FrameEvent? in
            if case .frame(let frame) = event { frame } else { nil }
        }
        #expect(counts.events == frames)
        #expect(counts.types == Dictionary(frames.map { ($0.type, 1) }, uniquingKeysWith: +))
        #expect(counts.bytes == frames.reduce(0) { $0 + $1.length })
        #expect(counts.closed == summary.total.connections)
        #expect(output.text.split(separator: "\n").count == events.count)
    }

    /// What comes before the damage has been decoded, and every connection is closed.
    @Test func damageIsReportedAfterWhatCouldBeRead() throws {
        let bytes = try Self.bytes("im-json/chat.pcap")
        let counts = Counts()
        let error = #expect(throws: CaptureDecodingError.self) {
            try CaptureDecoding(format: "im-json").read(Array(bytes.dropLast(7)), name: "chat.pcap", to: [counts])
        }
        let message = try #require(error).description
        #expect(
            message.hasPrefix("chat.pcap: ") && message.contains(/byte \d+: expected 82 bytes of .* after 75 of them/),
            "\(message)")
        #expect(!counts.types.isEmpty && counts.closed > 0)
        let missing = #expect(throws: CaptureDecodingError.self) {
            try CaptureDecoding().events(ofFile: "/nonexistent/chat.pcap")
        }
        #expect(missing?.description.contains("/nonexistent/chat.pcap") == true)
    }

    @Test(arguments: ["fixd", "fixed:size", "fixed:size=-1", "example:nothing", "/nonexistent/format.yaml"])
    func wrongFormatsAreErrors(name: String) throws {
        let error = #expect(throws: (any Error).self) { try CaptureDecoding(format: name) }
        #expect(error.map { "\($0)".contains(name.split(separator: ":")[0]) } == true)
    }

    @Test(arguments: ["fixed:size=8", "example:redis", "line"]) func formatsAreNamedAsOnTheCommandLine(name: String)
        throws
    {
        #expect(throws: Never.self) { try CaptureDecoding(format: name) }
    }

    /// Each block of Swift in the libraries' pages is compiled: its lines follow one another in an example.
    @Test func thePagesSamplesAreCompiled() throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized
        func files(_ folder: String, _ ending: String) throws -> [String] {
            let paths = FileManager.default.enumerator(atPath: root.appending(path: folder).path)?.compactMap {
                $0 as? String
            }
            return try (paths ?? []).filter { $0.hasSuffix(ending) && !$0.contains(".build") }
                .map { try String(contentsOf: root.appending(path: "\(folder)/\($0)"), encoding: .utf8) }
        }
        func plain(_ text: some StringProtocol) -> String {
            text.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } }.joined(separator: "\n")
        }
        let compiled = try files("Examples/LineClient", ".swift").map(plain)
        let pages =
            try files("Sources/FrametapCore", ".md") + files("Sources/TraceTesting", ".md")
            + files("docs", "library.md").map { $0.replacing(/(?s)```swift\n\.package.*?```/, with: "") }
        let samples = pages.flatMap {
            $0.split(separator: "```swift\n").dropFirst().compactMap { $0.split(separator: "```").first }
        }
        #expect(pages.count == 3 && samples.count >= 6)
        for sample in samples {
            #expect(compiled.contains { $0.contains(plain(sample)) }, "\(sample)")
        }
    }
}

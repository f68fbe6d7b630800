import Foundation
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Properties of every example: no byte is left over, segmentation does not matter, and encoding inverts decoding.
@Suite struct ExampleFormatTests {
    /// Every file of docs/examples is in the program, and in docs/examples.md.
    @Test func everyFileIsListed() throws {
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(Example.root)/docs/examples")
        #expect(files.sorted() == ExampleFormats.names.map { "\($0).yaml" }.sorted())
        let text = try String(contentsOfFile: "\(Example.root)/docs/examples.md", encoding: .utf8)
        for name in ExampleFormats.names {
            #expect(text.contains("\n| `\(name)` | "), "docs/examples.md lacks \(name)")
        }
    }

    @Test(arguments: Example.all) func everyByteOfTheCaptureIsFramed(_ example: Example) throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: example.capturePath)))
        let decoded = DecodedCapture(bytes, options: .init(.fixed(try example.format())))
        #expect(decoded.damage == nil)
        let total = decoded.summary.total.bytes
        let lines = try decoded.lines()
        let mayChange = Example.changeToTLS.contains(example.name)
        let overTLS = mayChange ? Set(lines.filter { $0.event == "tls" }.map(\.connection)) : []
        #expect(overTLS.isEmpty != mayChange)
        #expect(lines.filter { $0.event == "unframed" && !overTLS.contains($0.connection) }.map(\.text) == [])
        #expect(total.missing == 0 && total.framed + total.unframed + total.padding == total.bytes)
        #expect(total.frames > 3)
        let findings = Set(
            lines.filter { $0.event == "finding" && !overTLS.contains($0.connection) }.compactMap { $0["kind"] })
        #expect(findings == Example.findings[example.name] ?? [])
        // Every frame has a name.
        #expect(lines.filter { $0.event == "frame" && $0["type"] == nil }.map(\.text) == [])
    }

    /// How much of a stream is split at every offset, and at how many more; the whole stream is split byte by byte, and at random.
    private static let (everyPlace, morePlaces) = (100, 30)

    @Test(arguments: Example.all) func cuttingDoesNotMatter(_ example: Example) throws {
        let format = try example.format()
        var generator = SeededGenerator(seed: 808)
        for (number, chunks) in try example.conversations().enumerated() {
            let whole = SeenConversation(format, chunks)
            let bytewise = SeenConversation(format, chunks) { Array(0..<$0) }
            #expect(bytewise.frames == whole.frames && bytewise.unframed == whole.unframed, "\(number), byte by byte")
            for _ in 0..<5 {
                let cut = SeenConversation(format, chunks) { count in
                    (0..<3).map { _ in Int.random(in: 0...count, using: &generator) }
                }
                #expect(cut.frames == whole.frames && cut.unframed == whole.unframed, "\(number), at random")
            }
            // Two conversations are as good a test as twenty.
            guard number < 2, let first = chunks.first?.bytes.count else { continue }
            let more = (0..<Self.morePlaces).map { _ in Int.random(in: 1...max(1, first - 1), using: &generator) }
            for place in Array(1..<max(2, min(first, Self.everyPlace))) + more {
                let cut = SeenConversation(format, chunks) { $0 > place ? [place] : [] }
                #expect(cut.frames == whole.frames && cut.unframed == whole.unframed, "\(number), at \(place)")
            }
        }
    }

    @Test(arguments: Example.all) func encodingUndoesDecoding(_ example: Example) throws {
        let format = try example.format()
        for chunks in try example.conversations() {
            let seen = SeenConversation(format, chunks)
            for (direction, frame) in Direction.allCases.flatMap({ side in seen.frames[side].map { (side, $0) } }) {
                let side = format.directions[direction]
                let (fields, body) = side.withContent(of: frame.bytes.span.bytes, frame.shape) { content, shape in
                    (side.fields(of: content, shape), content.copied(shape.head..<shape.head + shape.body))
                }
                // A wrong checksum is set right.
                let isWrong = side.withContent(of: frame.bytes.span.bytes, frame.shape) { content, shape in
                    side.layouts[shape.layout].checksums(of: content, shape).contains { $0.found != $0.expected }
                }
                if isWrong {
                    #expect(Example.findings[example.name] != nil)
                    continue
                }
                let layout = side.layouts[frame.shape.layout].name
                #expect(
                    try side.encode(fields, body: body, layout: layout) == frame.bytes,
                    "\(direction) at \(frame.offset): \(fields)")
            }
        }
    }

    /// With --examples, each is recognised by its bytes; DNS, Modbus and JT/T 808 have too few that are theirs.
    @Test(arguments: Example.all.filter { !["dns", "modbus", "jt808", "tls", "bgp"].contains($0.name) })
    func examplesAreRecognised(_ example: Example) throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: example.capturePath)))
        let formats = try BuiltInFormats.allWithVariants() + ExampleFormats.recognised()
        let lines = try DecodedCapture(bytes, options: .init(.automatic(formats))).lines()
        let found = lines.filter { $0.event == "format" }.map { $0["format"] ?? "-" }
        let own = found.filter { $0 == "example:\(example.formatName)" }
        // A connection of a capture may be too odd: a wrong version, a line of nonsense.
        #expect(own.count >= 1 && own.count + 1 >= found.count, "\(found)")
    }

    /// The same through the command line: bytes to a trace, and the trace to bytes.
    @Test(arguments: Example.all) func aTraceTurnsBackIntoBytes(_ example: Example) throws {
        let options = ["--format", example.formatPath, "--body-limit", "9999999", "--show-secrets"]
        let trace = try Program.output("frametap", ["decode", example.capturePath, "--as", "ndjson"] + options)
        let format = try example.format()
        let conversations = try example.conversations().map { SeenConversation(format, $0) }
        for direction in Direction.allCases {
            let lines = trace.text.split(separator: "\n").filter { $0.contains("\"event\":\"frame\"") }
            for (number, conversation) in conversations.enumerated() {
                let own = lines.filter { $0.contains("\"connection\":\(number + 1),") }.joined(separator: "\n")
                let encoded = try Program.output(
                    "frametap", ["formats", "encode", example.formatPath, "--from", direction.sender],
                    input: Array(own.utf8))
                #expect(encoded.output == conversation.frames[direction].flatMap(\.bytes), "\(number + 1) \(direction)")
                if number >= 3 || Example.findings[example.name]?.contains("bad-checksum") == true { break }
            }
        }
    }
}

/// `decode --raw`, `formats encode`, and the same bytes again.
func expectRoundTrip(
    _ bytes: [UInt8], from direction: Direction, format: String, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let trace = try Program.output(
        "frametap",
        ["decode", "--raw", "-", "--from", direction.sender, "--format", format]
            + ["--as", "ndjson", "--body-limit", "9999999", "--show-secrets"], input: bytes)
    #expect(!trace.text.contains("\"unframed\",\"conn"), "\(trace.text.prefix(900))", sourceLocation: sourceLocation)
    let encoded = try Program.output(
        "frametap", ["formats", "encode", format, "--from", direction.sender], input: trace.output)
    #expect(encoded.output == bytes, "\(format) \(direction)", sourceLocation: sourceLocation)
}

import Foundation
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Properties of every example: no byte is left over, segmentation does not matter, and encoding inverts decoding.
@Suite struct ExampleFormatTests {
    @Test(arguments: Example.all) func everyByteOfTheCaptureIsFramed(_ example: Example) throws {
        let bytes = Array(try Data(contentsOf: URL(filePath: example.capturePath)))
        let decoded = DecodedCapture(bytes, options: .init(.fixed(try example.format())))
        #expect(decoded.damage == nil)
        let total = decoded.summary.total.bytes
        #expect(total.unframed == 0 && total.missing == 0 && total.padding == 0 && total.framed == total.bytes)
        #expect(total.frames > 15)
        let lines = try decoded.lines()
        // One of the TLS clients refuses the certificate.
        #expect(lines.filter { $0.event == "finding" && $0["kind"] != "tls-failed" }.map(\.text) == [])
        // Every frame has a name.
        #expect(lines.filter { $0.event == "frame" && $0["type"] == nil }.map(\.text) == [])
    }

    /// How much of a stream is split at every offset; the whole stream is split byte by byte, and at random.
    private static let everyPlace = 1_500

    @Test(arguments: Example.all) func cuttingDoesNotMatter(_ example: Example) throws {
        let format = try example.format()
        var generator = SeededGenerator(seed: 808)
        // Two conversations are as good a test as twenty.
        for (direction, bytes) in try example.streams().prefix(4) {
            let rule = format.directions[direction].rule
            let start = Array(bytes.prefix(Self.everyPlace))
            let whole = SeenFrames(start, rule)
            for place in 1..<start.count {
                let cut = SeenFrames(start, cuts: [place], rule)
                #expect(cut.frames == whole.frames && cut.unframed == whole.unframed, "cut at \(place)")
            }
            let all = SeenFrames(bytes, rule).frames
            #expect(SeenFrames(bytes, cuts: Array(1..<bytes.count), rule).frames == all)
            for _ in 0..<20 {
                let cuts = (0..<9).map { _ in Int.random(in: 0...bytes.count, using: &generator) }.sorted()
                #expect(SeenFrames(bytes, cuts: cuts, rule).frames == all, "cuts at \(cuts)")
            }
        }
    }

    @Test(arguments: Example.all) func encodingUndoesDecoding(_ example: Example) throws {
        let format = try example.format()
        for (direction, bytes) in try example.streams() {
            let side = format.directions[direction]
            for frame in SeenFrames(bytes, side.rule).frames {
                let (fields, body) = side.withContent(of: frame.bytes.span.bytes, frame.shape) { content, shape in
                    (side.fields(of: content, shape), content.copied(shape.head..<shape.head + shape.body))
                }
                #expect(
                    try side.encode(fields, body: body) == frame.bytes, "\(direction) at \(frame.offset): \(fields)")
            }
        }
    }

    /// The same through the command line: bytes to a trace, and the trace to bytes.
    @Test(arguments: Example.all) func aTraceTurnsBackIntoBytes(_ example: Example) throws {
        for (direction, bytes) in try example.streams().prefix(4) {
            try expectRoundTrip(bytes, from: direction, format: example.formatPath)
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

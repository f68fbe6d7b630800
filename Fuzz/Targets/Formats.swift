import Framing
import Streams

/// The bytes are a format file: it is loaded, or what is wrong with it has places inside it. One that is loaded frames.
func fuzzFormats(_ input: FuzzInput) {
    let text = input.text
    do throws(FormatFileError) {
        let format = try FormatLoader.load(text, file: "fuzz.yaml")
        for direction in Direction.allCases { frame(text, as: format.directions[direction], from: direction) }
    } catch {
        expect(!error.faults.isEmpty && !error.description.isEmpty, "an error without a fault")
        let lines = text.unicodeScalars.count { "\n\r\u{85}\u{2028}\u{2029}".unicodeScalars.contains($0) } + 2
        for fault in error.faults {
            expect((1...lines).contains(fault.line) && fault.column >= 1, "\(fault) in \(lines) lines")
        }
    }
}

/// Frames a format's own text, as some bytes among others.
private func frame(_ text: String, as format: DirectionFormat, from direction: Direction) {
    let bytes = Array(text.utf8)
    guard !bytes.isEmpty else { return }
    let scratch = FramingScratch()
    var framer = Framer(rule: format.rule, direction: direction, aligned: true)
    let receiver = Describer(format: format)
    framer.receive(
        bytes.span.bytes, at: Timestamp(nanoseconds: 0), packet: 1, scratch: scratch, into: receiver)
    framer.finish(scratch: scratch, into: receiver)
    expect(framer.counts.bytes == bytes.count, "\(framer.counts) of \(bytes.count) bytes")
}

/// Reads all there is to read of a frame.
private final class Describer: FrameReceiver {
    let format: DirectionFormat

    init(format: DirectionFormat) {
        self.format = format
    }

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        format.withContent(of: bytes, frame.shape) { content, shape in
            _ = format.type(of: content, shape)
            _ = format.fields(of: content, shape)
            _ = format.decodeBody(of: content, shape)
        }
    }

    func unframed(_ run: UnframedRun, from direction: Direction) {}

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
}

import FrametapCore

/// How many frames of each type a capture has, and how many bytes they have. A sink: nothing is kept but the counts.
final class FrameSizes: TraceSink {
    private(set) var types: [String: (frames: Int, bytes: Int)] = [:]

    func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        let type = connection.type(of: frame, bytes) ?? "-"
        types[type, default: (0, 0)].frames += 1
        types[type, default: (0, 0)].bytes += frame.info.length
    }
}

@main struct Program {
    static func main() throws {
        let decoding = try CaptureDecoding()
        for path in CommandLine.arguments.dropFirst() {
            let sizes = FrameSizes()
            try decoding.read(file: path, to: [sizes])
            for (type, count) in sizes.types.sorted(by: { $0.value.bytes > $1.value.bytes }) {
                print("\(path): \(type) \(count.frames) frames, \(count.bytes) bytes")
            }
        }
    }
}

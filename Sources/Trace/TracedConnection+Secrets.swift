import Framing
import Streams

extension TracedConnection {
    /// What a secret is shown as.
    private static let mark = "«secret»"

    /// A frame's fields as they may be shown: those that the format calls secret are replaced.
    func shownFields(of bytes: RawSpan, _ shape: FrameShape, _ format: DirectionFormat) -> [Field] {
        let fields = format.fields(of: bytes, shape)
        let names = secretFields
        guard !names.isEmpty else { return fields }
        return fields.map { names.contains($0.name) ? Field($0.name, .text(Self.mark)) : $0 }
    }

    /// A frame's body as it may be shown.
    func shownBody(of frame: TracedFrame, _ bytes: RawSpan, _ format: DirectionFormat) -> DecodedBody {
        frame.decodedBody(of: bytes, format).redacting(secretBodyPaths)
    }

    /// Whether the bytes of a frame's head may be shown as they are.
    func mayDumpHead(_ fields: [Field]) -> Bool {
        let names = secretFields
        return names.isEmpty || !fields.contains { names.contains($0.name) }
    }

    /// Whether the bytes of a frame's body may be shown as they are: nobody could read it, or it has no secrets.
    func mayDumpBody(_ body: DecodedBody) -> Bool {
        secretBodyPaths.isEmpty || body.form == .opaque
    }

    private var secretFields: Set<String> {
        Set((format?.secrets ?? []).filter { $0.first == "fields" && $0.count == 2 }.map { $0[1] })
    }

    private var secretBodyPaths: [[String]] {
        (format?.secrets ?? []).filter { $0.first == "body" }.map { Array($0.dropFirst()) }
    }
}

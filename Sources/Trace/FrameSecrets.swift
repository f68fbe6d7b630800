import Framing
import Streams

/// What of a frame is not to be shown.
struct FrameSecrets {
    /// What a secret is shown as.
    private static let mark = "«secret»"

    private var fields: [String] = []
    private var body: [[String]] = []

    /// The secrets that a format has in a frame with these bytes.
    init(of frame: TracedFrame, _ bytes: RawSpan, _ format: Format) {
        for secret in format.secrets {
            if let condition = secret.condition {
                var values = FrameValues(
                    info: frame.info, direction: frame.direction, isHeartbeat: frame.isHeartbeat)
                values.body = frame.body
                let direction = format.directions[frame.direction]
                guard values.fulfil(condition, content: bytes, shape: frame.shape, format: direction) else { continue }
            }
            if secret.path[0] == "body" {
                body.append(Array(secret.path.dropFirst()))
            } else {
                fields.append(secret.path[1])
            }
        }
    }

    /// The fields as they may be shown: secret ones are replaced.
    func shown(_ fields: [Field]) -> [Field] {
        guard !self.fields.isEmpty else { return fields }
        return fields.map { self.fields.contains($0.name) ? Field($0.name, .text(Self.mark)) : $0 }
    }

    /// The body as it may be shown.
    ///
    /// - Parameter bytes: the body's bytes as they came.
    func shown(_ body: DecodedBody, of bytes: RawSpan) -> DecodedBody { body.redacting(self.body, of: bytes) }

    /// Whether the bytes of a head with these fields may be shown as they are.
    func mayDumpHead(_ fields: [Field]) -> Bool {
        self.fields.isEmpty || !fields.contains { self.fields.contains($0.name) }
    }

    /// Whether the bytes of a body may be shown as they are: it has no secrets, or nobody can read it.
    func mayDump(_ body: DecodedBody, of bytes: RawSpan) -> Bool {
        self.body.isEmpty || (body.form == .opaque && body.redacting(self.body, of: bytes).form == .opaque)
    }
}

import Streams

/// The rule of a connection whose format is unknown: every byte is unframed.
package struct Unrecognised: FramingRule {
    package static let name = "unrecognised"

    /// Why.
    package let detail: String

    /// - Parameter detail: what was looked for.
    package init(detail: String) {
        self.detail = detail
    }

    package func scan(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        .bad(BadBytes(.notDetected, detail))
    }

    package var landmark: Landmark { .never }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String { "\(bytes.byteCount) bytes" }
}

extension Format {
    /// A format that frames nothing.
    ///
    /// - Parameter detail: human-readable: why every byte is unframed.
    package static func unframed(_ name: String, _ summary: String, detail: String) -> Format {
        let side = DirectionFormat(rule: Unrecognised(detail: detail), layouts: [], typeName: .none, body: BodyFormat())
        return Format(
            name: name, summary: summary, ports: [], directions: PerDirection(fromClient: side, fromServer: side),
            isFramed: false)
    }
}

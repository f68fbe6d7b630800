import Expressions
import Streams

/// Where conversations of a format change to TLS (`tls:` in a format file), as after STARTTLS.
package struct TLSUpgrade: Sendable {
    /// The frame that asks for it.
    package var after: Expression
    /// The other side's next frame, if it must agree; nil: TLS begins in both directions after the request.
    package var answered: Expression?

    /// Where conversations change to TLS.
    package init(after: Expression, answered: Expression?) { (self.after, self.answered) = (after, answered) }
}

/// How far a connection is on its way to TLS.
package final class TLSUpgradeWatch {
    private enum State {
        case plaintext
        case requested(by: Direction)
        case agreed
    }

    private let upgrade: TLSUpgrade
    private var state = State.plaintext

    /// A connection that has not asked for TLS.
    package init(_ upgrade: TLSUpgrade) { self.upgrade = upgrade }

    /// Whether TLS begins with the next byte of each direction.
    package var isAgreed: Bool { if case .agreed = state { true } else { false } }

    /// Whether the side that asked for TLS has sent another frame since, without waiting for the answer (CVE-2021-23222).
    package private(set) var isPremature = false

    /// The side that waits for an answer to its request; nil if none does.
    package var requester: Direction? { if case .requested(let side) = state { side } else { nil } }

    /// Takes a frame.
    package func take(
        _ frame: FrameInfo, content: RawSpan, shape: FrameShape, from direction: Direction, _ format: DirectionFormat
    ) {
        let values = FrameValues(info: frame, direction: direction, isHeartbeat: false)
        func fulfils(_ condition: Expression) -> Bool {
            values.fulfil(condition, content: content, shape: shape, format: format)
        }
        switch state {
        case .agreed: return
        case .requested(let side) where side != direction:
            state = upgrade.answered.map(fulfils) == true ? .agreed : .plaintext
        case .requested: isPremature = true
        case .plaintext:
            guard fulfils(upgrade.after) else { return }
            state = upgrade.answered == nil ? .agreed : .requested(by: direction)
        }
    }

    /// Whether bytes begin as a TLS handshake does (RFC 8446 section 5.1), as far as there are any.
    package static func mayBeginTLS(_ bytes: RawSpan) -> Bool {
        bytes.byteCount > 0 && bytes[byte: 0] == 22 && (bytes.byteCount < 2 || bytes[byte: 1] == 3)
            && (bytes.byteCount < 3 || bytes[byte: 2] <= 4)
    }

    /// How many bytes come before the next place at which TLS may begin: at least one. Framing must stop there, to learn
    /// whether it does.
    package static func plaintext(before bytes: RawSpan) -> Int {
        for offset in 1..<max(1, bytes.byteCount) where bytes[byte: offset] == 22 {
            if mayBeginTLS(bytes.extracting(offset..<bytes.byteCount)) { return offset }
        }
        return bytes.byteCount
    }
}

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

    /// What is wrong, if there was plaintext where TLS has to come: it may be an attacker's.
    package private(set) var fault: String?

    /// A direction goes on with these bytes. Returns whether they are TLS: the client begins, so that a server that goes on with
    /// plaintext does not.
    package func beginsTLS(_ bytes: RawSpan, from direction: Direction) -> Bool {
        let isPlain = !Self.mayBeginTLS(bytes)
        switch state {
        case .plaintext: return false
        case .requested(let side):
            if side == direction, isPlain { note(Self.premature) }
            return false
        case .agreed:
            guard direction == .fromServer, isPlain else { return true }
            note(Self.belated)
            return false
        }
    }

    /// A direction has gone on with these bytes, which were framed.
    ///
    /// - Parameter held: how many bytes are the beginning of another frame.
    package func took(_ bytes: RawSpan, held: Int, from direction: Direction) {
        guard held > 0, !Self.mayBeginTLS(bytes) else { return }
        switch state {
        case .plaintext: return
        case .requested(let side): if side == direction { note(Self.premature) }
        case .agreed: note(Self.belated)
        }
    }

    private static let premature = "plaintext after the request for TLS, before it was answered (CVE-2021-23222)"
    private static let belated = "plaintext where TLS has to begin (CVE-2021-23222)"

    private func note(_ text: String) { fault = fault ?? text }

    /// Takes a frame.
    package func take(
        _ frame: FrameInfo, content: RawSpan, shape: FrameShape, from direction: Direction, _ format: DirectionFormat
    ) {
        let values = FrameValues(info: frame, direction: direction, isHeartbeat: false)
        func fulfils(_ condition: Expression) -> Bool {
            values.fulfil(condition, content: content, shape: shape, format: format)
        }
        switch state {
        case .agreed: note(Self.belated)
        case .requested(let side) where side != direction:
            state = upgrade.answered.map(fulfils) == true ? .agreed : .plaintext
        case .requested: note(Self.premature)
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

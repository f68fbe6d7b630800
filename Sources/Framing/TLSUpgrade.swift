import Expressions
import Streams

/// Where conversations of a format change to TLS (`tls:` in a format file), as after STARTTLS.
package struct TLSUpgrade: Sendable {
    /// The frame that requests TLS.
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

    /// A connection on which nobody has requested TLS.
    package init(_ upgrade: TLSUpgrade) { self.upgrade = upgrade }

    /// Whether TLS begins with the next byte of each direction.
    package var isAgreed: Bool { if case .agreed = state { true } else { false } }

    /// What is wrong, if there was plaintext where TLS has to come: it may be an attacker's.
    package private(set) var fault: String?

    /// Whether the next bytes of a direction, which were not framed yet, begin TLS. Once TLS is agreed, whatever a client sends
    /// counts as TLS, since it begins the handshake; a server's bytes do only if they look like it. Plaintext where TLS has to
    /// come is a `fault`.
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

    /// Notes the `fault` of bytes that were framed after a request for TLS, and left the beginning of another frame behind. Whole
    /// frames are noted by `take`.
    ///
    /// - Parameters:
    ///   - bytes: what the direction went on with.
    ///   - held: how many bytes of an incomplete frame are held; 0 if none are.
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

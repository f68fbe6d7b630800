import Expressions
import Framing
import Streams

/// What a rule does to a frame.
package enum FrameAction: Sendable {
    /// It does not pass.
    case drop
    /// It passes later. What follows waits for it, unless it may be overtaken.
    case delay(by: Interval, jitter: Interval, isOvertaken: Bool)
    /// It passes several times.
    case duplicate(copies: Int)
    /// It passes after the next frame of its direction.
    case swap
    /// It and what follows in its direction wait.
    case hold(Hold)
    /// Fields or the body are replaced.
    case replace(Replacement)
    /// Bits are flipped.
    case corrupt(Corruption)
    /// Only its first bytes pass, and the direction ends.
    case truncate(at: Int, Ending)
    /// Another frame passes before or after it.
    case inject(Injection)
    /// It is written in pieces, or together with others.
    case segment(Segmentation)

    /// For how long frames wait.
    package struct Hold: Sendable {
        /// Until a frame of either side for which this holds.
        package var until: Expression?
        /// At most this long.
        package var longest: Interval?
        /// Frames for which this holds do not wait.
        package var passing: Expression?
    }

    /// What replaces parts of a frame.
    package struct Replacement: Sendable {
        /// The new values of fields.
        package var fields: [Field] = []
        /// The new body; nil: as it was.
        package var body: BodyContent?
        /// Whether lengths, counts and checksums stay as they are.
        package var isRaw = false
    }

    /// Which bits are flipped.
    package struct Corruption: Hashable, Sendable {
        /// Where they are.
        package enum Place: Hashable, Sendable {
            /// Anywhere in the frame.
            case anywhere
            /// Before the body.
            case head
            /// In the body.
            case body
            /// In a field of the head or the trailer, by name.
            case field(String)
            /// In a checksum.
            case checksum
        }

        /// Where they are.
        package var place: Place
        /// How many.
        package var bits: Int
    }

    /// A frame of one's own.
    package struct Injection: Sendable {
        /// Its bytes.
        package var bytes: [UInt8]
        /// Who seems to have sent it; nil: the sender of the frame that the rule applies to.
        package var from: Direction?
        /// Whether it passes before that frame, rather than after it.
        package var isBefore: Bool
    }

    /// Its name in rule files.
    var name: String {
        switch self {
        case .drop: "drop"
        case .delay: "delay"
        case .duplicate: "duplicate"
        case .swap: "swap"
        case .hold: "hold"
        case .replace: "replace"
        case .corrupt: "corrupt"
        case .truncate: "truncate"
        case .inject: "inject"
        case .segment: "segment"
        }
    }
}

import Expressions
import Framing
import Streams

/// What a rule does to a frame.
public enum FrameAction: Sendable {
    /// It does not pass.
    case drop
    /// It passes later. What follows waits for it, unless it may be overtaken.
    case delay(by: Interval, jitter: Interval, isOvertaken: Bool)
    /// It passes several times.
    case duplicate(copies: Int)
    /// It passes behind the next frame of its direction.
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
    public struct Hold: Sendable {
        /// Until a frame of either side for which this holds.
        public var until: Expression?
        /// At most this long.
        public var longest: Interval?
        /// Frames for which this holds do not wait.
        public var passing: Expression?
    }

    /// What replaces parts of a frame.
    public struct Replacement: Sendable {
        /// The new values of fields.
        public var fields: [Field] = []
        /// The new body; nil: as it was.
        package var body: BodyContent?
        /// Whether lengths, counts and checksums stay as they are.
        public var isRaw = false
    }

    /// Which bits are flipped.
    public struct Corruption: Hashable, Sendable {
        /// Where they are.
        public enum Place: Hashable, Sendable {
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
        public var place: Place
        /// How many.
        public var bits: Int
    }

    /// A frame of one's own.
    public struct Injection: Sendable {
        /// Its bytes.
        public var bytes: [UInt8]
        /// Who seems to have sent it; nil: the sender of the frame that the rule applies to.
        public var from: Direction?
        /// Whether it passes before that frame, rather than after it.
        public var isBefore: Bool
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

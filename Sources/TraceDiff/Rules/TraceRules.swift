import Expressions
import Streams

/// Which parts of frames are not compared, or compared in another way: masks, echoes, and ignored values.
public struct TraceRules: Hashable, Sendable {
    /// Which frames, and which of their values.
    public struct Place: Hashable, Sendable {
        /// Who sends the frame; nil: either side.
        public var from: Direction?
        /// The frame's type; nil: any.
        public var type: String?
        /// The place in the frame, including everything inside it.
        public var path: FieldPath

        /// A place in frames.
        public init(from: Direction? = nil, type: String? = nil, path: FieldPath) {
            self.from = from
            self.type = type
            self.path = path
        }
    }

    /// A masked value.
    public struct Mask: Hashable, Sendable {
        /// Where.
        public var place: Place
        /// The masked part of a text; without it, and without a template, all of it.
        public var pattern: Pattern?
        /// The texts of which parts are masked; others are compared as they are.
        public var template: TextTemplate?

        /// A mask over a place.
        public init(_ place: Place, pattern: Pattern? = nil, template: TextTemplate? = nil) {
            self.place = place
            self.pattern = pattern
            self.template = template
        }
    }

    /// Places with one value, which differs in each run but is the same at each of the places.
    public struct Binding: Hashable, Sendable {
        /// Its name, for display.
        public var name: String
        /// Its places; the one where it occurs first must be listed first.
        public var places: [Place]

        /// A repeated value.
        public init(name: String, places: [Place]) {
            self.name = name
            self.places = places
        }
    }

    /// Values that must be present, but are not compared.
    public var masks: [Mask] = []
    /// Values that are not compared, but must be the same wherever they are repeated.
    public var bindings: [Binding] = []
    /// Values that are ignored entirely, even their presence.
    public var ignored: [Place] = []

    /// No rules: everything is compared.
    public init() {}

    /// Both sets of rules combined.
    public mutating func add(_ other: TraceRules) {
        masks += other.masks
        bindings += other.bindings
        ignored += other.ignored
    }
}

extension TraceRules.Place {
    /// Whether a value is at this place.
    func covers(_ from: Direction, _ type: String?, _ path: [FieldPath.Step]) -> Bool {
        (self.from == nil || self.from == from) && (self.type == nil || self.type == type) && self.path.covers(path)
    }
}

import Expressions
import Streams

/// What of frames is not compared, or compared in another way: masks, echoes, and what is not looked at at all.
public struct TraceRules: Hashable, Sendable {
    /// Which frames, and which of their values.
    public struct Place: Hashable, Sendable {
        /// Who sends the frame; nil: either side.
        public var from: Direction?
        /// The frame's type; nil: any.
        public var type: String?
        /// Where in the frame, and all that is inside of it.
        public var path: FieldPath

        /// A place in frames.
        public init(from: Direction? = nil, type: String? = nil, path: FieldPath) {
            self.from = from
            self.type = type
            self.path = path
        }
    }

    /// A value that may be any.
    public struct Mask: Hashable, Sendable {
        /// Where.
        public var place: Place
        /// What of a text may be any; without it, and without a template, all of it.
        public var pattern: Pattern?
        /// The texts of which some may be any; others are compared as they are.
        public var template: TextTemplate?

        /// A mask over a place.
        public init(_ place: Place, pattern: Pattern? = nil, template: TextTemplate? = nil) {
            self.place = place
            self.pattern = pattern
            self.template = template
        }
    }

    /// Places that hold one value: another one in each run, and the same at each of the places.
    public struct Binding: Hashable, Sendable {
        /// What it is called, for people.
        public var name: String
        /// Where it stands; whoever says it first is to be listed first.
        public var places: [Place]

        /// A value that is repeated.
        public init(name: String, places: [Place]) {
            self.name = name
            self.places = places
        }
    }

    /// Values that have to be there, and may be any.
    public var masks: [Mask] = []
    /// Values that may be any, but the same wherever they are repeated.
    public var bindings: [Binding] = []
    /// Values that are not looked at, not even for being there.
    public var ignored: [Place] = []

    /// No rules: everything is compared.
    public init() {}

    /// The rules of both.
    public mutating func add(_ other: TraceRules) {
        masks += other.masks
        bindings += other.bindings
        ignored += other.ignored
    }
}

extension TraceRules.Place {
    /// Whether a value lies here.
    func covers(_ from: Direction, _ type: String?, _ path: [FieldPath.Step]) -> Bool {
        (self.from == nil || self.from == from) && (self.type == nil || self.type == type) && self.path.covers(path)
    }
}

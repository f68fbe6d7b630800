import Expressions
import Streams
import Trace

/// Which parts of frames are not compared, or compared in another way: masks, echoes, and ignored values.
package struct TraceRules: Hashable, Sendable {
    /// Which frames, and which of their values.
    package struct Place: Hashable, Sendable {
        /// Who sends the frame; nil: either side.
        package var from: Direction?
        /// The frame's type; nil: any.
        package var type: String?
        /// The place in the frame, including everything inside it.
        package var path: FieldPath

        /// A place in frames.
        package init(from: Direction? = nil, type: String? = nil, path: FieldPath) {
            self.from = from
            self.type = type
            self.path = path
        }
    }

    /// Frames of a side, of a type, or both.
    package struct Frames: Hashable, Sendable {
        /// Who sends them; nil: either side.
        package var from: Direction?
        /// Their type; nil: any.
        package var type: String?

        /// Frames of a side, of a type, or both.
        package init(from: Direction? = nil, type: String? = nil) {
            self.from = from
            self.type = type
        }

        /// Whether a frame is one of them.
        package func covers(_ from: Direction, _ type: String?) -> Bool {
            (self.from == nil || self.from == from) && (self.type == nil || self.type == type)
        }
    }

    /// A masked value.
    package struct Mask: Hashable, Sendable {
        /// Where.
        package var place: Place
        /// The masked part of a text; without it, and without a template, all of it.
        package var pattern: Pattern?
        /// The texts of which parts are masked; others are compared as they are.
        package var template: TextTemplate?

        /// A mask over a place.
        package init(_ place: Place, pattern: Pattern? = nil, template: TextTemplate? = nil) {
            self.place = place
            self.pattern = pattern
            self.template = template
        }
    }

    /// Places with one value, which differs in each run but is the same at each of the places.
    package struct Binding: Hashable, Sendable {
        /// Its name, for display.
        package var name: String
        /// Its places; the one where it occurs first must be listed first.
        package var places: [Place]

        /// A repeated value.
        package init(name: String, places: [Place]) {
            self.name = name
            self.places = places
        }
    }

    /// Values that must be present, but are not compared.
    package var masks: [Mask] = []
    /// Values that are not compared, but must be the same wherever they are repeated.
    package var bindings: [Binding] = []
    /// Values that are ignored entirely, even their presence.
    package var ignored: [Place] = []
    /// Frames that are not compared at all.
    package var ignoredFrames: [Frames] = []
    /// Frames that must be there, in any order.
    package var unordered: [Frames] = []

    /// No rules: everything is compared.
    package init() {}

    /// Whether a frame is not compared at all.
    package func ignoresFrame(_ from: Direction, _ type: String?) -> Bool {
        ignoredFrames.contains { $0.covers(from, type) }
    }

    /// Whether a frame's body may be anything.
    package func masksBody(of frame: FrameEvent) -> Bool {
        let body = [FieldPath.Step.member("body")]
        return ignored.contains { $0.covers(frame.from, frame.type, body) }
            || masks.contains {
                $0.pattern == nil && $0.template == nil && $0.place.covers(frame.from, frame.type, body)
            }
    }

    /// Both sets of rules combined.
    package mutating func add(_ other: TraceRules) {
        masks += other.masks
        bindings += other.bindings
        ignored += other.ignored
        ignoredFrames += other.ignoredFrames
        unordered += other.unordered
    }
}

extension TraceRules.Place {
    /// The frames that may have it.
    var frames: TraceRules.Frames { TraceRules.Frames(from: from, type: type) }

    /// Whether a value is at this place.
    func covers(_ from: Direction, _ type: String?, _ path: [FieldPath.Step]) -> Bool {
        frames.covers(from, type) && self.path.covers(path)
    }
}

import Expressions
import Streams

/// The kinds of frames that one direction of a format has been seen to have: what follows from the few bytes of a head that
/// name a frame's type is found out once, and looked up from then on.
///
/// Nothing that is called here comes back to change it, so that is not checked on every access.
package final class FrameKinds {
    /// What is known of all frames of a kind.
    package struct Kind {
        /// The name of their type.
        package var type: String?
        /// Whether they are heartbeats; nil where that depends on more than the type.
        package var isHeartbeat: Bool?
        /// How their bodies are read.
        var body: BodyChain
    }

    /// What most frames need to know of their kind, in a form that costs little to look up.
    struct Traits {
        var isHeartbeat: Bool
        /// Whether only a closer look tells whether a frame is a heartbeat.
        var asksForHeartbeat: Bool
        var check: BodyChain.QuickCheck
    }

    /// The kinds seen so far.
    @exclusivity(unchecked) package private(set) var kinds: [Kind] = []
    @exclusivity(unchecked) private(set) var traits: [Traits] = []
    /// The kinds of frames of the only layout, where a number tells them, and where it lies.
    @exclusivity(unchecked) private(set) var slots = KindSlots()
    let place: NumberPlace?

    let format: DirectionFormat
    let direction: Direction
    private let heartbeat: Expression?
    private let dependsOnTypeOnly: Bool
    @exclusivity(unchecked) private var layouts: [LayoutKinds]

    /// Of more kinds than this no more are remembered.
    private static let most = 4_096

    /// The kinds of a direction's frames, none of which has been seen.
    package init(_ format: Format, _ direction: Direction) {
        self.format = format.directions[direction]
        self.direction = direction
        heartbeat = format.heartbeat?.condition
        dependsOnTypeOnly = heartbeat?.paths.allSatisfy { $0 == ["type"] || $0 == ["from"] } ?? true
        let side = self.format
        layouts = side.layouts.map { LayoutKinds(FrameTelling(side.typeName, in: $0)) }
        if layouts.count == 1, case .number(let place) = layouts[0].telling { self.place = place } else { place = nil }
    }

    /// A frame's kind; nil where no few bytes tell it.
    package func kind(of content: RawSpan, _ shape: FrameShape) -> Int? {
        if let place {
            let kind = slots.kind(of: place.key(content))
            if kind >= 0 { return kind }
        }
        return kindByLayout(content, shape)
    }

    private func kindByLayout(_ content: RawSpan, _ shape: FrameShape) -> Int? {
        layouts[shape.layout].known(content, shape) ?? learn(content, shape)
    }

    private func learn(_ content: RawSpan, _ shape: FrameShape) -> Int? {
        guard layouts[shape.layout].isTelling, kinds.count < Self.most else { return nil }
        let type = format.type(of: content, shape)
        var isHeartbeat: Bool?
        if let heartbeat {
            if dependsOnTypeOnly {
                isHeartbeat = FrameValues(info: FrameInfo(of: shape), direction: direction)
                    .fulfil(heartbeat, content: content, shape: shape, format: format)
            }
        } else {
            isHeartbeat = false
        }
        let kind = Kind(type: type, isHeartbeat: isHeartbeat, body: format.body.chain(for: type))
        let number = kinds.count
        guard layouts[shape.layout].remember(number, content, shape) else { return nil }
        kinds.append(kind)
        traits.append(
            Traits(
                isHeartbeat: isHeartbeat ?? false, asksForHeartbeat: isHeartbeat == nil, check: kind.body.quickCheck))
        if let place { slots.remember(number, for: place.key(content)) }
        return number
    }

    /// Whether a frame is a heartbeat.
    func isHeartbeat(_ kind: Int?, _ info: FrameInfo, _ content: RawSpan, _ shape: FrameShape) -> Bool {
        if let kind, let known = kinds[kind].isHeartbeat { return known }
        guard let heartbeat else { return false }
        return FrameValues(info: info, direction: direction)
            .fulfil(heartbeat, content: content, shape: shape, format: format)
    }

    /// What is wrong with a frame's body; nil where nothing is.
    func fault(_ kind: Int?, _ content: RawSpan, _ shape: FrameShape) -> BodyFault.Kind? {
        if format.body.isPlain { return nil }
        let body = content.extracting(shape.head..<shape.head + shape.body)
        if let kind { return kinds[kind].body.fault(of: body, type: kinds[kind].type) }
        let type = format.type(of: content, shape)
        return format.body.chain(for: type).fault(of: body, type: type)
    }
}

import Expressions
import Streams

/// The types of a direction's frames for which none of some conditions can hold, whatever else is in a frame: remembered by the few
/// bytes that determine the type, so that these frames need not be examined.
package final class RuledOutTypes {
    private let format: DirectionFormat
    private let direction: Direction
    private let conditions: [Expression]
    private let heartbeat: Expression?
    private let layouts: [LayoutKinds]
    /// How many more types are remembered: a field with arbitrary values must not take memory without limit.
    private var roomLeft = 1_024

    /// What `layouts` remember of a type.
    private enum Mark { static let (possible, ruledOut) = (0, 1) }

    /// - Parameters:
    ///   - conditions: at least one of them must hold for a frame to be of interest.
    ///   - format: the format of the frames.
    ///   - direction: their direction.
    package init(_ conditions: [Expression], _ format: Format, _ direction: Direction) {
        (self.format, self.direction, self.conditions) = (format.directions[direction], direction, conditions)
        heartbeat = format.heartbeat.flatMap { $0.from == direction ? $0.condition : nil }
        let side = self.format
        layouts = side.layouts.map { LayoutKinds(TypeSource(side.typeName, in: $0)) }
    }

    /// Whether none of the conditions holds for a frame, whatever else is in it; false if its type does not tell.
    ///
    /// - Parameters:
    ///   - content: the frame's content, with escapes resolved.
    ///   - shape: the content's parts.
    package func contains(_ content: RawSpan, _ shape: FrameShape) -> Bool {
        if let known = layouts[shape.layout].known(content, shape) { return known == Mark.ruledOut }
        return learn(content, shape)
    }

    private func learn(_ content: RawSpan, _ shape: FrameShape) -> Bool {
        guard layouts[shape.layout].hasSource, roomLeft > 0 else { return false }
        roomLeft -= 1
        let type = format.type(of: content, shape)
        let isHeartbeat: Bool? = if let heartbeat { heartbeat.truth(forType: type, from: direction) } else { false }
        let isRuledOut = conditions.allSatisfy {
            $0.truth(forType: type, from: direction, isHeartbeat: isHeartbeat) == false
        }
        _ = layouts[shape.layout].remember(isRuledOut ? Mark.ruledOut : Mark.possible, content, shape)
        return isRuledOut
    }
}

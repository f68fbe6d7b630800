import Expressions
import Streams

extension Expression {
    /// Whether the condition holds for a frame, if that depends on nothing but these values; nil if it depends on more.
    ///
    /// - Parameters:
    ///   - type: the name of the frame's type.
    ///   - direction: who sent it.
    ///   - isHeartbeat: whether it is a heartbeat; nil if that is not known.
    package func truth(forType type: String?, from direction: Direction, isHeartbeat: Bool? = nil) -> Bool? {
        truth { path in
            switch paths[path] {
            case ["type"]: type.map(Value.text) ?? .absent
            case ["from"]: .text(direction.sender)
            case ["heartbeat"]: isHeartbeat.map(Value.boolean)
            default: nil
            }
        }
    }
}

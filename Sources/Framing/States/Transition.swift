import Expressions
import Streams

/// A frame behind which a conversation is in another state: other frames follow (`transitions` in a format file).
public struct Transition: Sendable {
    /// The states in which it may happen, by their indices; empty: any.
    var from: Set<Int>
    /// What the frame is.
    var condition: Expression
    /// The state behind it.
    var to: Int
    /// Whose frames are other ones then; nil: both sides'.
    var side: Direction?
}

/// The states of a format's conversations.
public struct ConversationStates: Sendable {
    /// Their names; the first is the one in which conversations begin.
    var names: [String]
    /// What leads from one to another.
    var transitions: [Transition]
}

import Expressions
import Streams

/// A frame after which a conversation is in another state: other frames follow (`transitions` in a format file).
package struct Transition: Sendable {
    /// The states in which it may happen, by their indices; empty: any.
    var from: Set<Int>
    /// What the frame is.
    var condition: Expression
    /// The state after it.
    var to: Int
    /// Whose frames are other ones then; nil: both sides'.
    var side: Direction?

    /// Whether the bytes of a body decide whether it happens: not known of one with a gap.
    var dependsOnBody: Bool { condition.paths.contains { $0.first == "body" && $0 != ["body", "length"] } }
}

/// The states of a format's conversations.
package struct ConversationStates: Sendable {
    /// Their names; the first is the one in which conversations begin.
    var names: [String]
    /// What leads from one to another.
    var transitions: [Transition]
    /// How the streams of each state are encoded, the outermost encoding first; empty if none is.
    var layers: [PerDirection<[any StreamEncoding]>]

    /// How a direction's stream is encoded in a state.
    func encodings(_ state: Int, _ direction: Direction) -> [any StreamEncoding] {
        state < layers.count ? layers[state][direction] : []
    }

    /// The names of the keys that are used.
    func keyNames(default name: String) -> [String] {
        layers.flatMap { ($0.fromClient + $0.fromServer).flatMap { $0.keyNames(default: name) } }
    }

    /// Sets the user's keys.
    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {
        for state in layers.indices {
            for direction in Direction.allCases {
                for index in layers[state][direction].indices {
                    try layers[state][direction][index].use(resources, defaultKey: defaultKey)
                }
            }
        }
    }
}

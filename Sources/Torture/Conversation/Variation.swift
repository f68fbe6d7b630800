/// How one run of a conversation is written; without anything it is the baseline: each message by itself.
struct Variation: Hashable, Sendable {
    /// One cut: after how many bytes of which message.
    struct Cut: Hashable, Sendable, Comparable {
        var message: Int
        var offset: Int

        static func < (left: Cut, right: Cut) -> Bool {
            (left.message, left.offset) < (right.message, right.offset)
        }
    }

    /// Messages that do not wait for answers in between.
    struct Pipeline: Hashable, Sendable {
        var messages: Range<Int>
        /// Whether they are one write; otherwise each is one.
        var isMerged: Bool
        /// How many bytes of the last one are in that write; nil: all.
        var lastBytes: Int?
    }

    var cuts: Set<Cut> = []
    var pipeline: Pipeline?

    /// The offsets at which a message is cut.
    func offsets(of message: Int) -> [Int] { cuts.filter { $0.message == message }.map(\.offset).sorted() }
}

extension [UInt8] {
    /// The pieces between cuts.
    func cut(at offsets: [Int]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        for offset in offsets where offset > start && offset < count {
            pieces.append(Array(self[start..<offset]))
            start = offset
        }
        pieces.append(Array(self[start...]))
        return pieces
    }
}

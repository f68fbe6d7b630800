/// The work for each of a direction's frames, by the number that determines its kind: a small cache.
struct WorkByNumber {
    /// The work for a frame, in addition to counting it.
    struct Work: OptionSet {
        var rawValue: UInt8
        /// Check whether its body is a Protobuf message.
        static let messageCheck = Work(rawValue: 1)
        /// Examine it as a request or an answer, as long as they are paired.
        static let pair = Work(rawValue: 2)
        /// Examine it fully.
        static let everything = Work(rawValue: 4)
        /// Not yet determined: examine it fully, too.
        static let unknown = Work(rawValue: 12)

        /// Whether the frame has to be examined.
        @inline(__always)
        func examines(pairs: Bool) -> Bool { !isDisjoint(with: pairs ? [.everything, .pair] : .everything) }
    }

    private var entries: [(number: UInt64, work: Work)] = Array(repeating: (0, .unknown), count: 256)

    /// The work for a number.
    @inline(__always)
    subscript(number: UInt64) -> Work {
        get {
            let entry = entries[KindSlots.slot(number)]
            return entry.number == number ? entry.work : .unknown
        }
        set { entries[KindSlots.slot(number)] = (number, newValue) }
    }
}

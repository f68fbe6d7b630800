/// The work for each of a direction's frames, by the number that determines its kind: a small cache, indexed by the number's low
/// bits.
struct WorkByNumber {
    /// The work for a frame.
    enum Work: UInt8 {
        /// Not yet determined.
        case unknown
        /// Only count it.
        case nothing
        /// Check whether its body is a Protobuf message.
        case messageCheck
        /// The same two, but for requests and answers, as long as they are paired.
        case nothingButPair, messageCheckAndPair
        /// Examine it fully.
        case everything
    }

    private var entries: [(number: UInt64, work: Work)] = Array(repeating: (0, .unknown), count: 256)

    /// The work for a number.
    @inline(__always)
    subscript(number: UInt64) -> Work {
        get {
            let entry = entries[Int(truncatingIfNeeded: number & 255)]
            return entry.number == number ? entry.work : .unknown
        }
        set { entries[Int(truncatingIfNeeded: number & 255)] = (number, newValue) }
    }
}

/// What has to be done for each of a direction's frames, by the number that tells its kind: a small cache, at the place that the
/// number's low bits name.
struct WorkByNumber {
    /// What there is to do.
    enum Work: UInt8 {
        /// To find that out.
        case unknown
        /// To count it.
        case nothing
        /// To look whether its body is a Protobuf message.
        case messageCheck
        /// The same two, but for requests and answers, as long as somebody pairs them.
        case nothingButPair, messageCheckAndPair
        /// To look closely.
        case everything
    }

    private var entries: [(number: UInt64, work: Work)] = Array(repeating: (0, .unknown), count: 256)

    /// What there is to do for a number.
    @inline(__always)
    subscript(number: UInt64) -> Work {
        get {
            let entry = entries[Int(truncatingIfNeeded: number & 255)]
            return entry.number == number ? entry.work : .unknown
        }
        set { entries[Int(truncatingIfNeeded: number & 255)] = (number, newValue) }
    }
}

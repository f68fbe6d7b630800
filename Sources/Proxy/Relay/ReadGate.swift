/// When one end of a relay reads: a value without sockets.
///
/// A read must be requested, the other end must accept what is read, no stage may hold too much, and if nothing may be omitted,
/// the recorder must have room.
struct ReadGate: Hashable, Sendable {
    /// What to do.
    enum Step: Hashable, Sendable {
        /// Read now.
        case read
        /// Try again when the recorder has room.
        case awaitRecorder
        /// Nothing, until something changes.
        case wait
    }

    /// Whether a read was requested and has not happened.
    private(set) var isWanted = false
    /// Whether reading waits until the recorder has caught up.
    private(set) var waitsForRecorder = false
    /// Whether a stage holds so much data read here that reading waits.
    var isPaused = false

    /// A read is requested.
    mutating func want() { isWanted = true }

    /// Decides whether to read.
    ///
    /// - Parameters:
    ///   - isTaken: whether the other end accepts bytes.
    ///   - hasRoom: whether the recorder has room; called only if everything else allows reading.
    mutating func step(isTaken: Bool, hasRoom: () -> Bool) -> Step {
        guard isWanted, isTaken, !isPaused, !waitsForRecorder else { return .wait }
        guard hasRoom() else {
            waitsForRecorder = true
            return .awaitRecorder
        }
        isWanted = false
        return .read
    }

    /// The recorder has caught up.
    mutating func recorderHasRoom() { waitsForRecorder = false }
}

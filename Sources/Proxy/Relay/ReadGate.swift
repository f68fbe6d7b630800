/// When one end of a relay reads: a value without sockets.
///
/// Something has to be asked for, the other end has to take what is read, no stage may hold too much, and where nothing may be left out,
/// the recorder has to have room.
struct ReadGate: Hashable, Sendable {
    /// What is to be done.
    enum Step: Hashable, Sendable {
        /// Read now.
        case read
        /// Come back when the recorder has room.
        case awaitRecorder
        /// Nothing, until something changes.
        case wait
    }

    /// Whether a read was asked for and has not happened.
    private(set) var isWanted = false
    /// Whether reading waits until the recorder has caught up.
    private(set) var waitsForRecorder = false
    /// Whether a stage holds so much of what is read here that reading waits.
    var isPaused = false

    /// A read is asked for.
    mutating func want() { isWanted = true }

    /// Looks whether to read.
    ///
    /// - Parameters:
    ///   - isTaken: whether the other end takes bytes.
    ///   - hasRoom: whether the recorder has room; asked only where everything else allows reading.
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

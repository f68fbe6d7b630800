/// How one end of a relay came to its end: a value without sockets.
struct EndState: Hashable, Sendable {
    /// What it means that a channel is closed.
    enum Closing: Hashable, Sendable {
        /// The other program sent FIN.
        case inputEnded
        /// The other program closed its Unix socket; what is still sent to it has nobody to go to.
        case departed
        /// The connection is gone: reset, or closed by the proxy itself.
        case lost
    }

    /// Whether the end is a Unix socket: the other program's `close` ends both directions at once there, after its bytes were read,
    /// and without an error. Over TCP that would be a FIN, and a RST if anything is sent to it then.
    let isUnix: Bool
    /// Whether the other program sent FIN.
    var hasInputEnded = false
    /// Whether the proxy has sent FIN.
    var isOutputClosed = false
    /// Whether the other program of a Unix socket has closed it.
    private(set) var hasDeparted = false
    /// Whether the connection is gone without an end.
    private(set) var isLost = false

    /// An end of which nothing has ended.
    init(isUnix: Bool) { self.isUnix = isUnix }

    /// The channel is closed.
    mutating func close(isStopping: Bool) -> Closing {
        guard !isLost, !isStopping else { return .lost }
        // The end of the input of a channel whose output is closed closes it at once, without an event of its own; a reset would have
        // been an error first.
        if isOutputClosed, !hasInputEnded { return .inputEnded }
        guard isUnix, hasInputEnded else { return .lost }
        hasDeparted = true
        return .departed
    }

    /// The connection is gone; returns false where that was known.
    mutating func lose() -> Bool {
        defer { isLost = true }
        return !isLost
    }
}

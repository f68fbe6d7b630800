/// How one end of a relay has ended: a value without sockets.
struct EndState: Hashable, Sendable {
    /// What a closed channel means.
    enum Closing: Hashable, Sendable {
        /// The other program sent FIN.
        case inputEnded
        /// The other program closed its Unix socket, or both directions have ended; bytes still sent to it reach no one.
        case departed
        /// The connection is gone: reset, or closed by the proxy itself.
        case lost
    }

    /// Whether the end is a Unix socket: there, the other program's `close` ends both directions at once, after its bytes were
    /// read, and without an error. Over TCP that would be a FIN, followed by a RST if anything is sent to it.
    let isUnix: Bool
    /// Whether the other program sent FIN.
    var hasInputEnded = false
    /// Whether the proxy has sent FIN.
    var isOutputClosed = false
    /// Whether the other program of a Unix socket has closed it, or both directions have ended.
    private(set) var hasDeparted = false
    /// Whether both directions have ended, the proxy's own first: a rule may have ended it while the other side goes on, whose bytes are
    /// discarded.
    private(set) var isOver = false
    /// Whether the channel is closed, and that was not the loss of the connection.
    var hasEnded: Bool { hasDeparted || isOver }
    /// Whether the connection is gone without a clean end.
    private(set) var isLost = false

    /// An end that is still open in both directions.
    init(isUnix: Bool) { self.isUnix = isUnix }

    /// The channel is closed.
    mutating func close(isStopping: Bool) -> Closing {
        guard !isLost, !isStopping else { return .lost }
        // If a channel's output is closed, the end of its input closes it immediately, without an event of its own; a reset would
        // have caused an error first.
        if isOutputClosed, !hasInputEnded {
            isOver = true
            return .inputEnded
        }
        guard hasInputEnded, isUnix || isOutputClosed else { return .lost }
        hasDeparted = true
        return .departed
    }

    /// The connection is gone; returns false if that was already known.
    mutating func lose() -> Bool {
        defer { isLost = true }
        return !isLost
    }
}

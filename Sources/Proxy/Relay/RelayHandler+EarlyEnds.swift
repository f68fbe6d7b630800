extension RelayHandler {
    /// How a client's side ended before it was joined with a server.
    struct EarlyEnds {
        /// It sent FIN.
        var hasInputEnded = false
        /// Its channel is closed.
        var isInactive = false
        /// Its channel had an error.
        var isLost = false
    }
}

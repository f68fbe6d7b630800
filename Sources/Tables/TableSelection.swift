import Streams

/// Which connections belong to the tables, and which of them a later run replaces.
package struct TableSelection: Sendable {
    /// Connections that ended before are final: nothing that comes later changes their rows. Nil: all are.
    package var finalBefore: Timestamp?
    /// Connections that ended before are in the tables already.
    package var writtenBefore: Timestamp?
    /// Connections between these ends are left out: a client and a server, in order of their text, and a hyphen between them.
    package var except: Set<String> = []
    /// Whether there are other shards: what is found across connections is left out.
    package var isShard = false

    /// All connections, all of them final.
    package init() {}

    /// What becomes of a connection.
    enum Fate {
        case final
        /// A later run replaces its rows.
        case live
        case leftOut
    }

    func wants(_ opening: Opening) -> Bool {
        except.isEmpty || !except.contains(ConnectionTexts(opening).pair)
    }

    func fate(of closings: [Closing]) -> Fate {
        if let writtenBefore, closings.allSatisfy({ $0.isOver(before: writtenBefore) }) { return .leftOut }
        guard let finalBefore else { return .final }
        return closings.allSatisfy { $0.isOver(before: finalBefore) } ? .final : .live
    }
}

extension Closing {
    fileprivate func isOver(before time: Timestamp) -> Bool {
        reason != .endOfInput && reason != .evicted && self.time < time
    }
}

/// What was written.
package struct TableOutcome: Sendable {
    /// A file of a table.
    package struct File: Sendable {
        /// The table.
        package var table: Table
        /// Its path in the tables' folder.
        package var path: String
        /// How many rows it has.
        package var rows: Int
        /// Its size.
        package var bytes: Int
    }

    /// A connection that is not final.
    package struct Live: Sendable {
        /// Its two ends, in order of their text, and a hyphen between them.
        package var ends: String
        /// When it opened.
        package var opened: Timestamp
    }

    /// The files, by path.
    package var files: [File] = []
    /// How many connections are in the tables.
    package var connections = 0
    /// How many frames are in them.
    package var frames = 0
    /// The formats of connections, and whether each declares heartbeats.
    package var formats: [String: Bool] = [:]
    /// The connections whose rows a later run replaces.
    package var live: [Live] = []
    /// How many events came after their connection was over, and are in no table.
    package var late = 0

    /// Nothing was written.
    package init() {}
}

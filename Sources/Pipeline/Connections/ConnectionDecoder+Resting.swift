import Streams
import Trace

/// Connections that rest: nothing is held of them but what a few numbers say, and perhaps a short chunk.
extension ConnectionDecoder {
    /// Whether it can be packed: it is framed, or waits for its first bytes.
    private var isResting: Bool {
        guard filter == nil, upgrade == nil, conversation == nil, notDetected == nil, changed == nil,
            annotatedEnd == nil, connection.leg == nil, !isUpgraded, !isIntercepted, !isQueued, account.held == 0,
            !awaitsPause.fromClient, !awaitsPause.fromServer
        else { return false }
        guard isFraming else { return detection?.isFresh == true && hasBegun == (resources.keys == nil) }
        return plan != nil && Direction.allCases.allSatisfy { sides[$0]?.isResting ?? true }
    }

    func pack(into numbers: inout PackedNumbers) -> (any ReceiverSource)? {
        guard isResting else { return nil }
        let source = resources.packedConnections(of: plan, connection.chosen)
        var own = numbers.other
        if isFraming { pass(through: &own) }
        resources.budget.close(&account)
        // The directions hold the connection, too: without them, this may be the only reference to it.
        sides = PerDirection(fromClient: nil, fromServer: nil)
        guard isKnownUniquelyReferenced(&connection), connection.isResting else {
            numbers.append(own)
            return KnownPackedConnection(connection, like: source)
        }
        connection.pack(into: &numbers)
        numbers.append(own)
        return source
    }

    /// Packs what is known of its directions, or makes a new decoder know it.
    func pass(through numbers: inout PackedNumbers) {
        // A copy: what is passed on by reference would be checked for exclusivity wherever it is used.
        var begun = hasBegun
        numbers.pass(&begun)
        hasBegun = begun
        for direction in Direction.allCases {
            var hasSide = sides[direction] != nil
            numbers.pass(&hasSide)
            if hasSide { side(direction).pass(through: &numbers) }
        }
        undecided = UndecidedChunk.pass(undecided, through: &numbers)
    }
}

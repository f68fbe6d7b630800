import Streams
import Trace

/// Connections that rest: nothing is held of them but what a few numbers say, and perhaps a short chunk.
extension ConnectionDecoder {
    /// Whether it can be packed: it is framed, or its format is looked for and little has been seen.
    private var isResting: Bool {
        guard filter == nil, upgrade == nil, conversation == nil, notDetected == nil, changed == nil,
            annotatedEnd == nil, connection.leg == nil, !isUpgraded, !isIntercepted, !awaitsPause.fromClient,
            !awaitsPause.fromServer
        else { return false }
        guard isFraming else {
            guard let detection else { return false }
            return detection.isFresh
                ? hasBegun == (resources.keys == nil) : hasBegun && detection.isShort && !detection.isAwake
        }
        return account.held == 0 && plan != nil && Direction.allCases.allSatisfy { sides[$0]?.isResting ?? true }
    }

    func pack(into numbers: inout PackedNumbers) -> (any ReceiverSource)? {
        guard isResting else { return nil }
        let source = resources.packedConnections(of: plan, connection.chosen)
        var own = numbers.other
        pass(through: &own)
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

    /// Packs what is known of its directions, or of its bytes while its format is looked for; or makes a new decoder know it.
    func pass(through numbers: inout PackedNumbers) {
        guard isFraming else {
            var isFresh = detection?.isFresh ?? true
            numbers.pass(&isFresh)
            guard !isFresh else { return }
            hasBegun = true
            detection?.pass(through: &numbers)
            return
        }
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

import Streams
import Trace

/// Connections that rest: nothing is held of them but what a few numbers say, and perhaps a short chunk.
extension ConnectionDecoder {
    /// Whether it can be dormant: it is framed, or waits for its first bytes.
    private var isResting: Bool {
        guard filter == nil, upgrade == nil, conversation == nil, notDetected == nil, changed == nil,
            annotatedEnd == nil, connection.leg == nil, !isUpgraded, !isIntercepted, !isQueued, account.held == 0,
            !awaitsPause.fromClient, !awaitsPause.fromServer
        else { return false }
        guard isFraming else { return detection?.isFresh == true && hasBegun == (resources.keys == nil) }
        return plan != nil && Direction.allCases.allSatisfy { sides[$0]?.isResting ?? true }
    }

    func dormant() -> (any ConnectionReceiver)? {
        guard isResting else { return nil }
        let dormancy = resources.dormancy(of: plan, connection.chosen, since: connection.opening.time)
        var numbers = PackedNumbers(near: dormancy.start)
        if isFraming { pass(through: &numbers) }
        resources.budget.close(&account)
        // The directions hold the connection, too: without them, this may be the only reference to it.
        sides = PerDirection(fromClient: nil, fromServer: nil)
        guard isKnownUniquelyReferenced(&connection), connection.isResting else {
            return DormantConnection(dormancy, numbers.packed(), connection)
        }
        var whole = PackedNumbers(near: dormancy.start)
        connection.pack(into: &whole)
        return DormantConnection(dormancy, numbers.packed(behind: whole.packed()), nil)
    }

    /// A decoder that continues a dormant connection.
    ///
    /// - Parameters:
    ///   - numbers: what there is to know of it, from here on.
    ///   - connection: what there is to know, besides.
    static func awake(
        _ dormancy: Dormancy, _ numbers: inout PackedNumbers, _ connection: TracedConnection
    ) -> ConnectionDecoder {
        let decoder = ConnectionDecoder(connection, dormancy.resources, framedBy: dormancy.plan)
        if decoder.isFraming { decoder.pass(through: &numbers) }
        return decoder
    }

    /// Packs what is known of its directions, or makes a new decoder know it.
    private func pass(through numbers: inout PackedNumbers) {
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

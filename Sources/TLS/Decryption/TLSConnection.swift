import Streams

/// Follows a TLS connection passively and decrypts it with the secrets of a key log: TLS 1.0 to 1.3.
///
/// Both directions are fed as they arrive, in any segmentation and relative order; feeding begins at the first TLS byte of each,
/// which need not be the first byte of the stream. Tags and MACs are always verified: no plaintext is ever delivered that does
/// not belong there. After a gap it finds the next record and its number, and resumes.
///
/// What it keeps per direction: one incomplete record (18 KiB); one incomplete handshake message (1 MiB); while it waits for the
/// other direction's hello or for a secret, 256 KiB and one chunk; after a gap, one record and one chunk.
package struct TLSConnection: Sendable {
    /// What a call works with.
    struct Context {
        let keys: KeyLog
        let receiver: any TLSReceiver
        /// When what is being read was received.
        var arrival: Arrival

        /// The secret of a label.
        func secret(_ label: KeyLogLabel, for random: ClientRandom) -> [UInt8]? {
            keys.secret(label, for: random) ?? receiver.moreKeys()?.secret(label, for: random)
        }

        /// The master secret of a TLS 1.2 session.
        func masterSecret(for random: ClientRandom, sessionID: [UInt8]) -> [UInt8]? {
            keys.masterSecret(for: random, sessionID: sessionID)
                ?? receiver.moreKeys()?.masterSecret(for: random, sessionID: sessionID)
        }
    }

    var sides = PerDirection(fromClient: Side(), fromServer: Side())
    var state = HandshakeState()

    /// A connection of which nothing was seen.
    package init() {}

    /// What a direction has carried so far.
    package func counts(from direction: Direction) -> TLSCounts { sides[direction].counts }

    /// The number of bytes that are kept, of both directions.
    package var heldBytes: Int {
        Direction.allCases.reduce(0) { $0 + sides[$1].heldBytes }
    }

    /// Whether a direction's bytes wait for the other direction's hello, or for a secret.
    package func isHolding(from direction: Direction) -> Bool { sides[direction].held.wait != nil }

    /// The next bytes of a direction.
    ///
    /// - Parameters:
    ///   - arrival: when they were received: the receiver gets it back with what had to wait.
    ///   - keys: the secrets known so far. They are looked up when a record needs them.
    package mutating func receive(
        _ bytes: RawSpan, from direction: Direction, at arrival: Arrival = Arrival(), keys: KeyLog,
        into receiver: some TLSReceiver
    ) {
        let context = Context(keys: keys, receiver: receiver, arrival: arrival)
        sides[direction].counts.wireBytes += bytes.byteCount
        endWaitForSecret(of: direction.opposite, context)
        feed(bytes, direction, context)
        settle(context)
    }

    /// The next `byteCount` bytes of a direction were not captured.
    package mutating func missing(
        _ byteCount: Int, from direction: Direction, at arrival: Arrival = Arrival(), keys: KeyLog,
        into receiver: some TLSReceiver
    ) {
        guard byteCount > 0 else { return }
        let context = Context(keys: keys, receiver: receiver, arrival: arrival)
        endWaitForSecret(of: direction.opposite, context)
        if sides[direction].held.wait != nil {
            sides[direction].held.add(.missing(byteCount), arrival)
        } else {
            passGap(byteCount, direction, context)
        }
        settle(context)
    }

    /// No more calls for a direction follow.
    ///
    /// - Parameter hasEnded: whether its sender ended it; false if only the capture did, which truncates nothing.
    package mutating func finish(
        from direction: Direction, hasEnded: Bool = true, at arrival: Arrival = Arrival(), keys: KeyLog,
        into receiver: some TLSReceiver
    ) {
        let context = Context(keys: keys, receiver: receiver, arrival: arrival)
        endWaitForSecret(of: direction.opposite, context)
        if sides[direction].held.wait != nil {
            sides[direction].held.add(.finish(hasEnded: hasEnded), arrival)
        } else {
            end(direction, hasEnded: hasEnded, context)
        }
        // What would have decided how the other direction is read does not come any more.
        sides[direction.opposite].held.isGivenUp = sides[direction].held.wait == nil
        settle(context)
        if sides[direction].held.wait != nil, sides[direction.opposite].held.wait != nil {
            sides[direction].held.isGivenUp = true
            settle(context)
        }
    }
}

import Streams

/// Waiting for the other direction, or for a secret.
extension TLSConnection {
    /// Whether a record can only be read once more of the other direction is known.
    func mustWait(_ header: RecordHeader, _ direction: Direction) -> Bool {
        let side = sides[direction]
        guard !side.held.isGivenUp, !sides[direction.opposite].isFinished else { return false }
        switch direction {
        case .fromServer:
            // Whose keys? An alert needs none.
            return side.phase == .plaintext && header.type != .alert && state.agreed == nil && state.pending == nil
                && !state.isClientHelloLost
        case .fromClient:
            let isEncrypted = header.type == .applicationData && side.phase == .plaintext
            let changes = header.type == .changeCipherSpec && !state.isTLS13
            let isAfterGap = side.phase == .plaintext && side.recovery != nil
            guard isEncrypted || changes || isAfterGap else { return false }
            if state.pending != nil { return !state.isServerHelloLost }
            // Early data: accepted or not is known from the server's EncryptedExtensions.
            return isEncrypted && state.earlyData == .undecided
        }
    }

    /// Holds what cannot be read yet.
    mutating func hold(_ bytes: RawSpan, _ wait: HeldInput.Wait, _ direction: Direction, _ context: Context) {
        sides[direction].held.wait = wait
        sides[direction].held.add(bytes, context.arrival)
    }

    /// Reads on where the wait is over, as long as that changes anything.
    mutating func settle(_ context: Context) {
        var hasChanged = true
        while hasChanged {
            hasChanged = false
            for direction in Direction.allCases {
                if sides[direction].held.wait != nil, sides[direction].held.isFull {
                    sides[direction].held.isGivenUp = true
                }
                guard let wait = sides[direction].held.wait, !isWaiting(wait, direction, context) else { continue }
                release(direction, context)
                hasChanged = true
            }
        }
    }

    private func isWaiting(_ wait: HeldInput.Wait, _ direction: Direction, _ context: Context) -> Bool {
        switch wait {
        case .record(let header): mustWait(header, direction)
        case .renegotiation: mustWaitForRenegotiation
        case .secret: mustWaitForSecret(direction, context)
        }
    }

    /// Whether the first record under handshake keys has to wait for its secret: a program may log it after the record was
    /// captured, but does before the other side goes on.
    func mustWaitForSecret(_ direction: Direction, _ context: Context) -> Bool {
        guard sides[direction].awaited == .handshake, !sides[direction].hasOpaqueGap, !sides[direction].held.isGivenUp
        else { return false }
        let other = sides[direction.opposite]
        // A client that is ahead has gone on already. Only one direction waits, or neither would go on.
        guard direction == .fromClient || other.isPlaintext, !other.isFinished, other.held.wait == nil,
            let random = state.agreed?.clientRandom, let keys = context.receiver.moreKeys()
        else { return false }
        let label: KeyLogLabel =
            direction == .fromClient ? .clientHandshakeTrafficSecret : .serverHandshakeTrafficSecret
        return keys.secret(label, for: random) == nil
    }

    /// The other direction goes on: the secret that this one waits for is looked up for the last time.
    mutating func endWaitForSecret(of direction: Direction, _ context: Context) {
        guard case .secret? = sides[direction].held.wait else { return }
        sides[direction].held.isGivenUp = true
        settle(context)
    }

    /// Whether the ServerHello of a renegotiation has to wait for its ClientHello.
    var mustWaitForRenegotiation: Bool {
        state.pending == nil && !sides.fromServer.held.isGivenUp && !sides.fromClient.isFinished
    }

    private mutating func release(_ direction: Direction, _ context: Context) {
        for item in sides[direction].held.take() {
            if sides[direction].held.wait != nil {
                sides[direction].held.add(item.content, item.arrival)
                continue
            }
            var own = context
            own.arrival = item.arrival
            context.receiver.reads(item.arrival)
            switch item.content {
            case .bytes(let bytes): feed(bytes.span.bytes, direction, own)
            case .missing(let count): passGap(count, direction, own)
            case .finish(let hasEnded): end(direction, hasEnded: hasEnded, own)
            }
        }
        context.receiver.reads(context.arrival)
    }
}

extension Side {
    /// How many bytes are kept.
    var heldBytes: Int {
        reader.heldBytes + handshake.heldBytes + search.heldBytes + tail.count + held.byteCount
    }
}

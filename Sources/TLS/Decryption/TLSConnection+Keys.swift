import Streams

/// Changes of keys.
extension TLSConnection {
    /// ChangeCipherSpec in TLS 1.2 and earlier: the keys of the last handshake are in use from here on.
    mutating func changeCipherSpec(_ direction: Direction, _ context: Context) {
        if direction == .fromServer, state.negotiation != nil {
            // Nothing came between: the session was resumed (RFC 5246 section 7.3).
            if state.negotiation?.isResumed == nil { state.negotiation?.isResumed = true }
            reportNegotiation(context)
        }
        sides[direction].handshake.reset()
        sides[direction].ignoresHandshake = false
        sides[direction].recovery = nil
        guard let agreed = state.agreed, hasAgreement(direction) else {
            lackServerHello(direction, context)
            return
        }
        if let protection = protection12(agreed, direction, context) {
            begin(.application, nil, protection, direction)
        } else {
            sides[direction].phase = .opaque
            if !state.isUnsupported { sides[direction].lackedKeys = agreed.clientRandom }
        }
    }

    /// Whether a direction's last handshake is the one that was agreed on. The client may have begun the next one already.
    func hasAgreement(_ direction: Direction) -> Bool {
        direction == .fromServer || state.pending == nil
    }

    /// The protection that ChangeCipherSpec begins; nil without its master secret.
    func protection12(
        _ agreed: HandshakeState.Agreement, _ direction: Direction, _ context: Context
    ) -> RecordProtection? {
        guard !state.isUnsupported, agreed.version < .tls13, let suite = agreed.suite.protection,
            let secret = context.masterSecret(for: agreed.clientRandom, sessionID: agreed.sessionID)
        else { return nil }
        let block = KeyBlock(
            masterSecret: secret, clientRandom: agreed.clientRandom, serverRandom: agreed.serverRandom, suite,
            agreed.version)
        return RecordProtection(
            direction == .fromClient ? block.client : block.server, suite, agreed.version,
            encryptThenMAC: agreed.usesEncryptThenMAC)
    }

    /// The first encrypted record of TLS 1.3.
    mutating func beginEncryption13(_ direction: Direction, _ context: Context) {
        guard let agreed = state.agreed else {
            lackServerHello(direction, context)
            return
        }
        guard agreed.version == .tls13 else {
            sides[direction].phase = .opaque
            if protection12(agreed, direction, context) == nil, !state.isUnsupported {
                sides[direction].lackedKeys = agreed.clientRandom
            }
            return
        }
        // After a gap in the part that is in clear, the first records under the next keys may be lost.
        if sides[direction].recovery != nil {
            sides[direction].phase = later(direction, 0, context).isEmpty ? .opaque : .seeking
            return
        }
        guard direction == .fromClient else {
            beginHandshakeKeys(direction, context)
            return
        }
        // None of the server's records under its keys came in between: what is known of its handshake comes first.
        if isServerSecretAwaited { passHandshake(.fromServer, context) }
        switch state.earlyData {
        case .none: beginHandshakeKeys(direction, context)
        case .accepted:
            if !begin13(.early, direction, context) { seekAfterEarlyData(agreed.clientRandom, context) }
        case .rejected: seek(.rejectedEarlyData, direction, context)
        case .undecided, .unknown:
            if !begin13(.early, direction, context) { beginHandshakeKeys(direction, context) }
        }
    }

    /// Handshake keys of TLS 1.3; without their secret, the application keys are waited for.
    mutating func beginHandshakeKeys(_ direction: Direction, _ context: Context) {
        guard !begin13(.handshake, direction, context) else { return }
        seek(.missingSecret, direction, context)
        // What the client sends, if it is ahead, is not kept waiting for a secret that may never come.
        if sides[direction].awaited == nil || sides.fromClient.held.wait != nil { passHandshake(direction, context) }
    }

    /// The rest of a handshake is not read.
    mutating func passHandshake(_ direction: Direction, _ context: Context) {
        guard direction == .fromServer else { return }
        if state.earlyData == .undecided { state.earlyData = .unknown }
        reportNegotiation(context)
    }

    /// Whether the server's handshake is read if its secret is still logged: until then, what was negotiated is not reported.
    var isServerSecretAwaited: Bool { sides.fromServer.awaited == .handshake }

    /// Application keys of TLS 1.3.
    mutating func beginApplicationKeys(_ direction: Direction, _ context: Context) {
        guard !begin13(.application, direction, context), let agreed = state.agreed else { return }
        sides[direction].phase = .opaque
        sides[direction].lackedKeys = agreed.clientRandom
        sides[direction].awaited = .application
    }

    /// The next generation of application keys (RFC 8446 section 7.2).
    mutating func updateKeys(_ direction: Direction, _ context: Context) {
        guard let secret = sides[direction].secret?.next, let suite = state.agreed?.suite.protection,
            let protection = RecordProtection(secret, suite)
        else { return }
        begin(.application, secret, protection, direction)
        context.receiver.event(.keyUpdated, from: direction)
    }

    private mutating func begin13(_ epoch: Side.Epoch, _ direction: Direction, _ context: Context) -> Bool {
        guard let agreed = state.agreed,
            let (secret, protection) = protection13(epoch, agreed.suite, agreed.clientRandom, direction, context)
        else { return false }
        begin(epoch, secret, protection, direction)
        return true
    }

    /// The secret and protection of an epoch; nil if the key log does not have them.
    func protection13(
        _ epoch: Side.Epoch, _ suite: CipherSuite, _ random: ClientRandom, _ direction: Direction, _ context: Context
    ) -> (TrafficSecret, RecordProtection)? {
        let isClient = direction == .fromClient
        let label: KeyLogLabel =
            switch epoch {
            case .early: .clientEarlyTrafficSecret
            case .handshake: isClient ? .clientHandshakeTrafficSecret : .serverHandshakeTrafficSecret
            case .application, .plaintext: isClient ? .clientTrafficSecret0 : .serverTrafficSecret0
            }
        guard suite.isTLS13, let method = suite.protection, let bytes = context.secret(label, for: random),
            bytes.count == method.hash.length
        else { return nil }
        let secret = TrafficSecret(bytes: bytes, hash: method.hash)
        return RecordProtection(secret, method).map { (secret, $0) }
    }

    private mutating func begin(
        _ epoch: Side.Epoch, _ secret: TrafficSecret?, _ protection: RecordProtection, _ direction: Direction
    ) {
        sides[direction].begin(epoch, secret, protection, sequence: 0)
    }

    /// The client's early data was accepted, and its secret is not known: all of it is lost.
    private mutating func seekAfterEarlyData(_ random: ClientRandom, _ context: Context) {
        seek(.lostEarlyData, .fromClient, context)
        // Without later keys either, those are what is missing.
        guard sides.fromClient.phase == .seeking, !state.isUnsupported else { return }
        context.receiver.event(.keysMissing(random, .clientEarlyTrafficSecret), from: .fromClient)
    }

    /// Uses keys that were logged only after the message that begins their use; false if they still are not.
    mutating func findsLateKeys(_ direction: Direction, _ context: Context) -> Bool {
        // What is lacked is forgotten with the first record under these keys, unless it is held: this one has the number 0.
        guard let random = sides[direction].lackedKeys, !sides[direction].hasOpaqueGap, let agreed = state.agreed,
            agreed.clientRandom == random
        else { return false }
        if agreed.version == .tls13 {
            switch sides[direction].awaited {
            case .handshake?: beginHandshakeKeys(direction, context)
            case .application?: beginApplicationKeys(direction, context)
            case .plaintext?, .early?, nil: return false
            }
            guard sides[direction].phase != .opaque else { return false }
        } else {
            guard hasAgreement(direction), let protection = protection12(agreed, direction, context) else {
                return false
            }
            begin(.application, nil, protection, direction)
        }
        sides[direction].lackedKeys = nil
        return true
    }

    /// Waits for a key that opens a record, or gives up if there is none.
    private mutating func seek(_ purpose: Recovery.Purpose, _ direction: Direction, _ context: Context) {
        sides[direction].awaited = nil
        guard let agreed = state.agreed else {
            sides[direction].phase = .opaque
            return
        }
        let recovery = Recovery(purpose, at: sides[direction].position)
        sides[direction].recovery = recovery
        sides[direction].phase = .seeking
        guard later(direction, 0, context).isEmpty else { return }
        sides[direction].recovery = nil
        sides[direction].phase = .opaque
        guard !state.isUnsupported else { return }
        sides[direction].lackedKeys = agreed.clientRandom
        // Where early data may come first, the next record is not known to be the first under handshake keys.
        guard purpose == .missingSecret, agreed.version == .tls13, !mayBeEarly(direction) else { return }
        sides[direction].awaited = .handshake
    }

    /// The ServerHello is not there: in TLS 1.3 the suites offered are tried, else nothing can be decrypted.
    mutating func lackServerHello(_ direction: Direction, _ context: Context) {
        sides[direction].phase = .opaque
        guard let hello = state.clientHello, !state.isClientHelloLost else { return }
        if !later(direction, 0, context).isEmpty {
            sides[direction].recovery = sides[direction].recovery ?? Recovery(.gap, at: sides[direction].position)
            sides[direction].phase = .seeking
        } else if context.keys.hasSecrets(for: hello.random) {
            guard !state.isUnsupported else { return }
            state.isUnsupported = true
            context.receiver.event(.unsupported("without its ServerHello nothing is decrypted"), from: direction)
        } else {
            sides[direction].lackedKeys = hello.random
        }
    }

    /// Reports missing keys, when a record needs them: once for a handshake, or for each direction if some of it was decrypted.
    mutating func reportMissingKeys(_ direction: Direction, _ context: Context) {
        guard let random = sides[direction].lackedKeys else { return }
        if sides[direction].awaited == .handshake { passHandshake(direction, context) }
        sides[direction].lackedKeys = nil
        sides[direction].awaited = nil
        let isPartial = state.isTLS13 && Direction.allCases.contains { sides[$0].epoch > .plaintext }
        guard state.missingKeys != random || isPartial else { return }
        state.missingKeys = random
        let label: KeyLogLabel =
            state.isTLS13 ? (direction == .fromClient ? .clientTrafficSecret0 : .serverTrafficSecret0) : .clientRandom
        context.receiver.event(.keysMissing(random, label), from: direction)
    }
}

extension Side {
    /// Uses other keys from the next record on.
    mutating func begin(
        _ epoch: Epoch, _ secret: TrafficSecret?, _ protection: RecordProtection, sequence: UInt64
    ) {
        (self.epoch, self.secret, self.protection, self.sequence) = (epoch, secret, protection, sequence)
        (phase, awaited, hasOpaqueGap) = (.encrypted, nil, false)
        handshake.reset()
        ignoresHandshake = false
    }
}

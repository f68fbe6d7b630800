import Streams

/// Finding the key and number of a record by trial.
extension TLSConnection {
    /// A key and number that open a record.
    struct Found {
        let candidate: Candidate
        let sequence: UInt64
        let opened: OpenedRecord
    }

    /// Takes a record whose key or number is not known.
    mutating func takeSeeking(
        _ header: RecordHeader, _ record: RawSpan, _ direction: Direction, _ context: Context
    ) -> HeldInput.Wait? {
        var isUnprotected = state.agreed == nil && header.type != .applicationData
        if !isUnprotected { isUnprotected = passesUnprotected(header, record, direction, context) }
        if isUnprotected {
            sides[direction].recovery?.otherBytes += header.recordLength
            return nil
        }
        let position = sides[direction].position
        let found = trial(header, record, candidates(header, direction, at: position, context))
        if let found, !found.opened.lacksIV || !found.candidate.isCurrent {
            adopt(found, header, record, direction, context)
        } else if let found {
            passRecord(header, direction)
            // Its number tells how many records lie before the next one, those in the gap included.
            let before = Int(found.sequence - sides[direction].sequence)
            sides[direction].recovery?.knownRecords = before + 1
            sides[direction].protection?.passed(record)
        } else {
            sides[direction].recovery?.failures += 1
            passRecord(header, direction)
            sides[direction].protection?.passed(record, isGenuine: false)
            giveUpIfHopeless(direction, context)
        }
        return nil
    }

    /// The keys and numbers that the record at `position` may have.
    func candidates(
        _ header: RecordHeader, _ direction: Direction, at position: Int, _ context: Context
    ) -> [Candidate] {
        let side = sides[direction]
        let skipped =
            side.recovery?.skipped(at: position, length: header.length, overhead: side.overhead) ?? 0...0
        var candidates: [Candidate] = []
        if let protection = side.protection, let suite = state.agreed?.suite {
            candidates.append(
                Candidate(
                    epoch: side.epoch, secret: side.secret, suite: suite, protection: protection,
                    sequences: side.sequence + UInt64(skipped.lowerBound)...side.sequence + UInt64(skipped.upperBound),
                    isCurrent: true))
        }
        return candidates + later(direction, skipped.upperBound, context)
    }

    /// The keys that may follow those in use, with numbers up to `most`.
    func later(_ direction: Direction, _ most: Int, _ context: Context) -> [Candidate] {
        let side = sides[direction]
        let sequences = 0...UInt64(min(most, Recovery.window))
        func candidate(
            _ epoch: Side.Epoch, _ secret: TrafficSecret?, _ suite: CipherSuite, _ protection: RecordProtection
        )
            -> Candidate
        {
            Candidate(
                epoch: epoch, secret: secret, suite: suite, protection: protection, sequences: sequences,
                isCurrent: false)
        }
        if let agreed = state.agreed, agreed.version < .tls13 {
            guard side.epoch == .plaintext, hasAgreement(direction),
                var protection = protection12(agreed, direction, context)
            else { return [] }
            // TLS 1.0's first IV is not that of a later record, and with encrypt-then-MAC nothing would tell.
            if agreed.usesEncryptThenMAC { protection.passed(RawSpan()) }
            return [candidate(.application, nil, agreed.suite, protection)]
        }
        if side.epoch == .application {
            guard let secret = side.secret?.next, let suite = state.agreed?.suite, let method = suite.protection,
                let protection = RecordProtection(secret, method)
            else { return [] }
            return [candidate(.application, secret, suite, protection)]
        }
        guard let hello = state.clientHello, hello.offersTLS13, !state.isUnsupported else { return [] }
        let epochs: [Side.Epoch] =
            mayBeEarly(direction) ? [.early, .handshake, .application] : [.handshake, .application]
        // Without a ServerHello, any suite that was offered.
        let suites = state.agreed.map { [$0.suite] } ?? hello.cipherSuites.filter(\.isTLS13)
        return suites.prefix(8).flatMap { suite in
            epochs.filter { $0 > side.epoch }.compactMap { epoch in
                protection13(epoch, suite, hello.random, direction, context)
                    .map { candidate(epoch, $0.0, suite, $0.1) }
            }
        }
    }

    /// Whether a direction may have early data (RFC 8446 section 4.2.10).
    func mayBeEarly(_ direction: Direction) -> Bool {
        direction == .fromClient && state.clientHello?.offersEarlyData == true && state.earlyData != .rejected
    }

    /// The first key and number that open a record.
    func trial(_ header: RecordHeader, _ record: RawSpan, _ candidates: [Candidate]) -> Found? {
        for candidate in candidates {
            for sequence in candidate.sequences {
                if let opened = candidate.protection.open(header, record, sequence: sequence) {
                    return Found(candidate: candidate, sequence: sequence, opened: opened)
                }
            }
        }
        return nil
    }

    /// Continues with a key and number that were found.
    mutating func adopt(
        _ found: Found, _ header: RecordHeader, _ record: RawSpan, _ direction: Direction, _ context: Context
    ) {
        if let recovery = sides[direction].recovery { report(recovery, found, direction, context) }
        sides[direction].recovery = nil
        if found.candidate.isCurrent {
            sides[direction].phase = .encrypted
            sides[direction].sequence = found.sequence + 1
        } else {
            let isUpdate = sides[direction].epoch == .application
            sides[direction].begin(
                found.candidate.epoch, found.candidate.secret, found.candidate.protection, sequence: found.sequence + 1)
            if isUpdate { context.receiver.event(.keyUpdated, from: direction) }
            if found.sequence > 0, found.candidate.epoch < .application { sides[direction].ignoresHandshake = true }
            presume(found.candidate.suite, context)
        }
        sides[direction].protection?.passed(record)
        if found.opened.lacksIV {
            guard header.type == .applicationData else { return }
            let length = max(0, header.length - found.candidate.protection.overhead)
            context.receiver.lost(plaintextBytes: length, isExact: false, records: 1, from: direction)
        } else {
            deliver(found.opened, direction, context)
        }
    }

    /// A record that was decrypted tells the suite of a ServerHello that was not captured.
    private mutating func presume(_ suite: CipherSuite, _ context: Context) {
        guard state.agreed == nil, let hello = state.clientHello else { return }
        state.pending = nil
        state.agreed = HandshakeState.Agreement(
            clientRandom: hello.random, serverRandom: [], sessionID: [], version: .tls13, suite: suite,
            usesEncryptThenMAC: false)
        if state.earlyData == .undecided { state.earlyData = .unknown }
        state.negotiation = Negotiation(presumed: suite, wasRetried: state.isRetried)
        reportNegotiation(context)
    }

    /// A record cannot be decrypted: the next ones may be.
    mutating func fail(_ reason: String, _ direction: Direction, _ context: Context) {
        sides[direction].recovery = Recovery(.gap, at: sides[direction].position)
        sides[direction].recovery?.isReported = true
        sides[direction].phase = .seeking
        // What the rest of the handshake would tell is not read.
        if direction == .fromServer { reportNegotiation(context) }
        reportFailure(reason, direction, context)
    }

    /// Gives up where nothing opens any more; returns whether it did.
    @discardableResult
    mutating func giveUpIfHopeless(_ direction: Direction, _ context: Context) -> Bool {
        guard let recovery = sides[direction].recovery else { return false }
        let isHopeless =
            recovery.purpose == .gap
            ? recovery.failures > Recovery.failureLimit
            : sides[direction].position - recovery.start > Recovery.skipLimit
        guard isHopeless else { return false }
        sides[direction].phase = .lost
        if !recovery.isReported {
            reportFailure("no key and number open what follows a gap", direction, context)
        }
        return true
    }

    private func reportFailure(_ reason: String, _ direction: Direction, _ context: Context) {
        let side = sides[direction]
        let failure = DecryptionFailure(
            reason: reason, clientRandom: state.clientHello?.random, record: side.counts.records + 1,
            offset: side.position)
        context.receiver.event(.decryptionFailed(failure), from: direction)
    }
}

extension Negotiation {
    /// What a record tells that could be decrypted, though the ServerHello was not captured.
    init(presumed suite: CipherSuite, wasRetried: Bool) {
        (version, cipherSuite, self.wasRetried) = (.tls13, suite, wasRetried)
    }
}

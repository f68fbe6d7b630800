import Streams

/// Records that are not encrypted, and those that cannot be decrypted.
extension TLSConnection {
    /// Takes a record of the part of the handshake that is in clear.
    mutating func takePlaintext(
        _ header: RecordHeader, _ record: RawSpan, _ direction: Direction, _ context: Context
    ) -> HeldInput.Wait? {
        if sides[direction].counts.records == 0, header.type != .alert, !beginsWithHello(header, record, direction) {
            loseHello(direction, context)
        }
        if sides[direction].recovery != nil, !state.isTLS13 {
            // ChangeCipherSpec may have been in the gap.
            let candidates = candidates(header, direction, at: sides[direction].position, context)
            if let found = trial(header, record, candidates) {
                adopt(found, header, record, direction, context)
                return nil
            }
        }
        switch header.type {
        case .changeCipherSpec:
            // In TLS 1.3 it only pleases middleboxes (RFC 8446 appendix D.4).
            if !state.isTLS13 { changeCipherSpec(direction, context) }
        case .alert, .handshake:
            takeUnprotected(header, record, direction, context)
        case .applicationData:
            beginEncryption13(direction, context)
            if sides[direction].phase != .plaintext { return take(again: header, record, direction, context) }
        }
        return nil
    }

    private func beginsWithHello(_ header: RecordHeader, _ record: RawSpan, _ direction: Direction) -> Bool {
        guard header.type == .handshake, header.length > 0 else { return false }
        let type = record[byte: RecordHeader.byteCount]
        return direction == .fromClient
            ? type == HandshakeType.clientHello
            : type == HandshakeType.serverHello || type == HandshakeType.helloRequest
    }

    /// A record that was found to be encrypted.
    private mutating func take(
        again header: RecordHeader, _ record: RawSpan, _ direction: Direction, _ context: Context
    ) -> HeldInput.Wait? {
        switch sides[direction].phase {
        case .plaintext, .lost: nil
        case .encrypted: takeEncrypted(header, record, direction, context)
        case .seeking: takeSeeking(header, record, direction, context)
        case .opaque: takeOpaque(header, record, direction, context)
        }
    }

    /// Takes an alert or handshake messages in clear.
    mutating func takeUnprotected(
        _ header: RecordHeader, _ record: RawSpan, _ direction: Direction, _ context: Context
    ) {
        let content = record.extracting(RecordHeader.byteCount..<record.byteCount)
        if header.type == .alert, content.byteCount == 2 {
            takeAlert(content, isEncrypted: false, direction, context)
        } else if header.type == .handshake {
            takeHandshake(content, direction, context)
        }
    }

    /// Takes the two bytes of an alert.
    mutating func takeAlert(_ content: RawSpan, isEncrypted: Bool, _ direction: Direction, _ context: Context) {
        guard content.byteCount == 2 else { return }
        let alert = Alert(level: content[byte: 0], code: content[byte: 1])
        if isServerSecretAwaited { reportNegotiation(context) }
        if alert.isCloseNotify || alert.isFatal { sides[direction].hasEnded = true }
        if alert.isFatal { sides[direction].hasFailed = true }
        context.receiver.event(.alert(alert, isEncrypted: isEncrypted), from: direction)
    }

    /// Takes a record for which there is no key.
    mutating func takeOpaque(
        _ header: RecordHeader, _ record: RawSpan, _ direction: Direction, _ context: Context
    ) -> HeldInput.Wait? {
        let isUnprotected = header.type == .changeCipherSpec || (header.type == .alert && header.length == 2)
        if !isUnprotected {
            if findsLateKeys(direction, context) { return take(again: header, record, direction, context) }
            if header.type == .applicationData, mustWaitForSecret(direction, context) { return .secret }
            reportMissingKeys(direction, context)
        }
        switch header.type {
        case .alert where header.length == 2:
            takeUnprotected(header, record, direction, context)
        case .alert:
            sides[direction].hasEnded = true
            context.receiver.event(.unreadableAlert, from: direction)
        case .applicationData:
            // In TLS 1.3 it may as well be a handshake message.
            if state.agreed.map({ $0.version < .tls13 }) == true { noteApplicationData(direction, context) }
            if sides[direction].opaqueLengths.count < 3 { sides[direction].opaqueLengths.append(header.length) }
            // Application data, but for handshake messages that look like it; the other direction may go on.
            if sides[direction].epoch >= .handshake || state.isTLS13 {
                let plaintext = max(0, header.length - sides[direction].overhead)
                context.receiver.lost(plaintextBytes: plaintext, isExact: false, records: 1, from: direction)
            }
        case .handshake, .changeCipherSpec: break
        }
        return nil
    }

    /// Reports where a direction's application data begins.
    mutating func noteApplicationData(_ direction: Direction, _ context: Context) {
        guard !sides[direction].hasApplicationData else { return }
        sides[direction].hasApplicationData = true
        context.receiver.event(
            .applicationDataBegins(offset: sides[direction].position, records: sides[direction].counts.records),
            from: direction)
    }

    /// A direction's hello is not there, and will not come.
    mutating func loseHello(_ direction: Direction, _ context: Context) {
        switch direction {
        case .fromClient:
            guard state.clientHello == nil, !state.isClientHelloLost else { return }
            state.isClientHelloLost = true
            context.receiver.event(.withoutHello, from: direction)
        case .fromServer:
            if state.agreed == nil { state.isServerHelloLost = true }
        }
    }
}

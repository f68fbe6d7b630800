import Streams

/// Handshake messages.
extension TLSConnection {
    /// Takes a record's handshake messages, or a part of one.
    mutating func takeHandshake(_ content: RawSpan, _ direction: Direction, _ context: Context) {
        guard !sides[direction].ignoresHandshake else { return }
        sides[direction].handshake.add(content)
        while true {
            switch sides[direction].handshake.next() {
            case .needsMore: return
            case .message(let message): take(message, direction, context)
            case .tooLong(let length):
                context.receiver.event(.unsupported("a handshake message of \(length) bytes"), from: direction)
                loseHello(direction, context)
                return
            }
        }
    }

    private mutating func take(_ message: HandshakeMessage, _ direction: Direction, _ context: Context) {
        if direction == .fromServer { completeNegotiation(message, context) }
        switch (message.type, direction) {
        case (HandshakeType.clientHello, .fromClient): takeClientHello(message.body, context)
        case (HandshakeType.serverHello, .fromServer): takeServerHello(message.body, context)
        case (HandshakeType.certificate, _):
            let version = state.agreed?.version ?? .tls12
            if let certificates = CertificateMessage.certificates(message.body, version) {
                context.receiver.event(.certificate(certificates), from: direction)
            }
        case (HandshakeType.certificateRequest, .fromServer):
            context.receiver.event(.certificateRequested, from: direction)
        case (HandshakeType.endOfEarlyData, .fromClient) where sides[direction].epoch == .early:
            beginHandshakeKeys(direction, context)
        case (HandshakeType.finished, _) where state.isTLS13 && sides[direction].epoch == .handshake:
            beginApplicationKeys(direction, context)
        case (HandshakeType.keyUpdate, _) where sides[direction].epoch == .application:
            updateKeys(direction, context)
        default: break
        }
    }

    private mutating func takeClientHello(_ body: ArraySlice<UInt8>, _ context: Context) {
        guard let hello = ClientHello(body) else {
            context.receiver.event(.unsupported("a malformed ClientHello"), from: .fromClient)
            loseHello(.fromClient, context)
            return
        }
        context.receiver.event(.clientHello(hello), from: .fromClient)
        // The second one after a HelloRetryRequest changes nothing that matters here.
        if state.isTLS13 { return }
        guard !state.isClientHelloLost else { return }
        if state.clientHello == nil, hello.offersEarlyData { state.earlyData = .undecided }
        (state.clientHello, state.pending) = (hello, hello)
    }

    private mutating func takeServerHello(_ body: ArraySlice<UInt8>, _ context: Context) {
        guard let hello = ServerHello(body) else {
            context.receiver.event(.unsupported("a malformed ServerHello"), from: .fromServer)
            loseHello(.fromServer, context)
            return
        }
        if hello.isHelloRetryRequest, state.agreed == nil {
            context.receiver.event(.helloRetryRequest(hello), from: .fromServer)
            state.isRetried = true
            if state.earlyData == .undecided { state.earlyData = .rejected }
            return
        }
        if sides.fromServer.epoch == .application { context.receiver.event(.renegotiated, from: .fromServer) }
        let client = state.pending
        if client == nil { loseHello(.fromClient, context) }
        state.negotiation = Negotiation(hello, client, wasRetried: state.isRetried)
        if let client { agree(client, hello, context) }
        if hello.version == .tls13 {
            beginHandshakeKeys(.fromServer, context)
        } else if state.earlyData == .undecided {
            state.earlyData = .rejected
        }
    }

    private mutating func agree(_ client: ClientHello, _ hello: ServerHello, _ context: Context) {
        state.pending = nil
        state.agreed = HandshakeState.Agreement(
            clientRandom: client.random, serverRandom: hello.random, sessionID: hello.sessionID,
            version: hello.version, suite: hello.cipherSuite, usesEncryptThenMAC: hello.usesEncryptThenMAC)
        let reason: String? =
            if !(.tls10 ... .tls13).contains(hello.version) {
                "\(hello.version) is not decrypted"
            } else if !hello.cipherSuite.isDecryptable || hello.cipherSuite.isTLS13 != (hello.version == .tls13) {
                "\(hello.cipherSuite) is not decrypted"
            } else if hello.compressionMethod != 0 {
                "TLS compression is not decrypted"
            } else {
                nil
            }
        state.isUnsupported = reason != nil
        if let reason { context.receiver.event(.unsupported(reason), from: .fromServer) }
    }

    /// What follows a ServerHello tells whether a session was resumed; EncryptedExtensions tells the rest of TLS 1.3.
    private mutating func completeNegotiation(_ message: HandshakeMessage, _ context: Context) {
        guard state.negotiation != nil else { return }
        if state.negotiation?.version != .tls13 {
            if state.negotiation?.isResumed == nil {
                state.negotiation?.isResumed = message.type == HandshakeType.newSessionTicket
            }
        } else if message.type == HandshakeType.encryptedExtensions,
            let extensions = EncryptedExtensions(message.body)
        {
            state.negotiation?.applicationProtocol = extensions.applicationProtocol
            if state.earlyData == .undecided {
                state.earlyData = extensions.acceptsEarlyData ? .accepted : .rejected
            }
        }
        reportNegotiation(context)
    }

    /// Reports what was negotiated, as far as it is known.
    mutating func reportNegotiation(_ context: Context) {
        guard var negotiation = state.negotiation else { return }
        state.negotiation = nil
        switch state.earlyData {
        case .accepted: negotiation.acceptsEarlyData = true
        case .rejected: negotiation.acceptsEarlyData = false
        case .none, .undecided, .unknown: break
        }
        context.receiver.event(.negotiated(negotiation), from: .fromServer)
    }
}

extension Negotiation {
    /// What a ServerHello alone tells.
    init(_ hello: ServerHello, _ client: ClientHello?, wasRetried: Bool) {
        version = hello.version
        cipherSuite = hello.cipherSuite
        applicationProtocol = hello.applicationProtocol
        usesEncryptThenMAC = hello.usesEncryptThenMAC
        self.wasRetried = wasRetried
        isResumed = hello.version == .tls13 ? hello.selectedPSK != nil : nil
    }
}

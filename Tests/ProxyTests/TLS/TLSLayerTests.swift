import NIOCore
import NIOSSL
import Streams
import TLS
import Testing

@testable import Proxy

/// The layer that decides about TLS as a playbook: events, and the expected actions. No sockets, no TLS.
@Suite struct TLSLayerTests {
    private static let timeout = EntryAction.wake(in: .seconds(10))
    private static let place = Place.tcp(HostPort(host: "chat.example.com", port: 443))

    private func options(_ mode: TLSOptions.Mode, _ change: (inout TLSOptions) -> Void = { _ in }) -> TLSOptions {
        var options = TLSOptions()
        options.mode = mode
        change(&options)
        return options
    }

    /// A stack whose server is connected: the TLS layer has begun.
    private func stack(_ options: TLSOptions) -> (stack: EntryStack, actions: [EntryAction]) {
        var stack = EntryStack(
            [FixedServerLayer(server: Self.place), TLSLayer(options)],
            of: EntryConnection(
                client: Endpoint(IPAddress(v4: 1), 1), reached: Endpoint(IPAddress(v4: 0x7f00_0001), 2)),
            patience: "3000 ms")
        _ = stack.begin()
        let actions = stack.take(.connected(bound: nil))
        return (stack, actions)
    }

    /// A ClientHello of TLS 1.2, or with `supported_versions` (RFC 8446 section 4.1.2), in records of at most `fragment` bytes.
    private func hello(
        name: String? = nil, protocols: [String] = [], versions: [UInt16] = [0x0304, 0x0303], legacy: UInt16 = 0x0303,
        fragment: Int = 16_384, suite: Int = 0xc02b, signatures: [Int] = [], groups: [Int] = []
    ) -> [UInt8] {
        func u16(_ number: Int) -> [UInt8] { [UInt8(number >> 8), UInt8(number & 255)] }
        func vector(_ bytes: [UInt8], _ width: Int) -> [UInt8] {
            (width == 1 ? [UInt8(bytes.count)] : u16(bytes.count)) + bytes
        }
        var extensions: [UInt8] = []
        if let name { extensions += u16(0) + vector(vector([0] + vector(Array(name.utf8), 2), 2), 2) }
        if !protocols.isEmpty {
            extensions += u16(16) + vector(vector(protocols.flatMap { vector(Array($0.utf8), 1) }, 2), 2)
        }
        if !versions.isEmpty { extensions += u16(43) + vector(vector(versions.flatMap { u16(Int($0)) }, 1), 2) }
        if !groups.isEmpty { extensions += u16(10) + vector(vector(groups.flatMap(u16), 2), 2) }
        if !signatures.isEmpty { extensions += u16(13) + vector(vector(signatures.flatMap(u16), 2), 2) }
        let body =
            u16(Int(legacy)) + [UInt8](repeating: 7, count: 32) + vector([], 1) + vector(u16(0x1301) + u16(suite), 2)
            + vector([0], 1) + vector(extensions, 2)
        let message = [1, 0] + u16(body.count) + body
        return stride(from: 0, to: message.count, by: fragment).flatMap { start -> [UInt8] in
            let piece = Array(message[start..<min(message.count, start + fragment)])
            return [22, 3, 1] + u16(piece.count) + piece
        }
    }

    @Test func theServerIsSecuredFirstAndTheClientGetsWhatItChose() {
        var (stack, actions) = stack(options(.intercept))
        #expect(actions == [.watchServer, .wake(in: .seconds(1))] && stack.needsBytes)
        // Cut anywhere, and in many records.
        let hello = hello(name: "a.example.com", protocols: ["x", "y"], fragment: 9)
        for byte in hello.dropLast() { #expect(stack.receive(ByteBuffer(bytes: [byte])) == []) }
        let request = TLSRequest(leg: .server, names: ["a.example.com"], maximum: .tls13, protocols: ["x", "y"])
        #expect(stack.receive(ByteBuffer(bytes: hello.suffix(1))) == [Self.timeout, .secure(request)])
        #expect(!stack.needsBytes && stack.take(.serverSpoke) == [])
        let outcome = TLSOutcome(
            version: .tls12, cipherSuite: "S", applicationProtocol: "y", certificate: [1], requestsCertificate: true)
        let answer = TLSRequest(
            leg: .client, names: ["a.example.com"], model: [1], maximum: .tls12, protocols: ["y"],
            requestsCertificate: true)
        #expect(stack.take(.secured(.server, outcome)) == [Self.timeout, .secure(answer)])
        #expect(stack.connection.unread.readableBytes == hello.count, "the hello is the beginning of the client's TLS")
        #expect(stack.take(.secured(.client, TLSOutcome())) == [.done])
        let facts = stack.connection.tls
        #expect(facts?.version == "TLS 1.2" && facts?.applicationProtocol == "y" && facts?.isVerified == true)
    }

    @Test func whatDoesNotBeginWithAHelloIsRelayed() {
        for event in [EntryEvent.serverSpoke, .woke, .ended] {
            var (stack, _) = stack(options(.intercept))
            #expect(stack.take(event) == [.done])
        }
        var (stack, _) = stack(options(.intercept))
        #expect(stack.receive(ByteBuffer(string: "GET / HTTP/1.1\r\n")) == [.done])
        #expect(stack.takeUnread().readableBytes == 16)
    }

    /// A hello that has begun is waited for longer.
    @Test func aSlowHelloIsAwaited() {
        var (stack, _) = stack(options(.intercept))
        let hello = hello(name: "a.b")
        #expect(stack.receive(ByteBuffer(bytes: hello.prefix(20))) == [])
        #expect(stack.take(.woke) == [Self.timeout])
        #expect(stack.receive(ByteBuffer(bytes: hello.dropFirst(20))).count == 2)
        var (other, _) = self.stack(options(.intercept))
        _ = other.receive(ByteBuffer(bytes: hello.prefix(20)))
        _ = other.take(.woke)
        #expect(other.take(.woke) == [.done])
    }

    /// With TLS required, a client that says nothing, or goes, is not kept.
    @Test func withoutAHelloNothingIsRelayedToAPlaintextServer() {
        for event in [EntryEvent.woke, .ended] {
            var (stack, _) = stack(options(.server))
            guard case .close(let fault, _)? = stack.take(event).first else {
                Issue.record("\(event) leaves the client where it is")
                return
            }
            #expect(fault.reason == .tlsFailed && fault.side == .fromClient)
        }
    }

    /// Names of protocols that TLS cannot offer, of which a hostile client may send any.
    @Test func onlyProtocolsThatCanBeOfferedAre() {
        var (stack, _) = stack(options(.intercept))
        let names = ["h2", "h\u{e9}", "\u{fffd}", String(repeating: "x", count: 255)]
        let request = TLSRequest(leg: .server, names: ["a.b"], maximum: .tls13, protocols: [names[0], names[3]])
        let actions = stack.receive(ByteBuffer(bytes: hello(name: "a.b", protocols: names)))
        #expect(actions == [Self.timeout, .secure(request)])
    }

    @Test func ignoredHostsAreRelayed() {
        let patterns = [HostPattern("*.example.com"), HostPattern("other.org")].compactMap { $0 }
        for (name, isIgnored) in [
            ("a.example.com", true), ("A.Example.COM.", true), ("example.com", false), ("other.org", true),
            ("x.other.org", false), (nil, true),
        ] {
            var (stack, _) = stack(options(.intercept) { $0.ignoredHosts = patterns })
            let actions = stack.receive(ByteBuffer(bytes: hello(name: name)))
            // Without a name, the host connected to counts.
            #expect((actions == [.done]) == isIgnored, "\(name ?? "none")")
        }
    }

    /// The client gets the server's alert, or internal_error if it was the proxy that refused.
    @Test func refusalsArePassedOn() {
        for (alert, code) in [(Alert(level: 2, code: 120), 120), (nil, 80)] as [(Alert?, UInt8)] {
            var (stack, _) = stack(options(.intercept))
            _ = stack.receive(ByteBuffer(bytes: hello(name: "a.b")))
            let actions = stack.take(.failed(.server, TLSFault(text: "no", alert: alert)))
            #expect(
                actions == [
                    .sendToClient([21, 3, 3, 0, 2, 2, code]),
                    .close(EntryFault("no (a.b)", .tlsFailed), isOrderly: true),
                ])
        }
        var (stack, _) = stack(options(.intercept))
        _ = stack.receive(ByteBuffer(bytes: hello(name: "a.b")))
        _ = stack.take(.secured(.server, TLSOutcome()))
        let refused = stack.take(.failed(.client, TLSFault(text: "the client refused")))
        #expect(
            refused == [.close(EntryFault("the client refused (a.b)", .tlsFailed, by: .fromClient), isOrderly: false)])
    }

    /// A handshake with the client that cannot begin: nothing was sent yet, so that an alert can be.
    @Test func aHandshakeThatCannotBeginIsAnsweredWithAnAlert() {
        let alert = EntryAction.sendToClient([21, 3, 3, 0, 2, 2, 80])
        var (stack, _) = stack(options(.intercept))
        _ = stack.receive(ByteBuffer(bytes: hello(name: "a.b")))
        _ = stack.take(.secured(.server, TLSOutcome()))
        let fault = TLSFault(beforehand: NIOSSLError.noSuchFilesystemObject)
        #expect(fault.text == "no such filesystem object")
        let close = EntryAction.close(
            EntryFault("no such filesystem object (a.b)", .tlsFailed, by: .fromClient), isOrderly: true)
        #expect(stack.take(.failed(.client, fault)) == [alert, close])
        // A name that there is no certificate for is refused before the server is asked.
        for mode in [TLSOptions.Mode.intercept, .server] {
            var (stack, _) = self.stack(options(mode) { $0.nameFlaw = { $0 == "*.x" ? "flaw" : nil } })
            let close = EntryAction.close(EntryFault("flaw", .tlsFailed, by: .fromClient), isOrderly: true)
            #expect(stack.receive(ByteBuffer(bytes: hello(name: "*.x"))) == [alert, close])
        }
    }

    /// Errors are reported in words, without the library's names.
    @Test func errorsAreWords() {
        for (error, text) in [
            (NIOSSLError.handshakeFailed(.syscallError), "the handshake with the server failed: syscall error"),
            (BoringSSLError.sslError([]), "the handshake with the server failed: ssl error"),
            (NIOSSLExtraError.invalidSNIHostname, "the handshake with the server failed: invalid snihostname"),
        ] as [(any Error, String)] {
            #expect(TLSFault(error, on: .server).text == text)
        }
    }

    /// An alert of a server that has asked for a certificate is probably about that.
    @Test(arguments: [40, 42, 43, 44, 45, 46, 48, 49] as [UInt8])
    func refusedCertificatesAreNamed(code: UInt8) {
        let alert = Alert(level: 2, code: code)
        #expect(!TLSFault(alert, on: .server, .none).text.contains("--client-cert"))
        #expect(TLSFault(alert, on: .server, .unmet).text.hasSuffix("it requires a client certificate (--client-cert)"))
        #expect(
            TLSFault(alert, on: .server, .met).text.hasSuffix("does not accept the client certificate (--client-cert)"))
        #expect(!TLSFault(alert, on: .client, .none).text.contains("--client-cert"))
    }

    @Test func oldVersionsAreRefused() {
        let old = hello(versions: [], legacy: 0x0302)
        var (stack, _) = stack(options(.intercept))
        let actions = stack.receive(ByteBuffer(bytes: old))
        #expect(actions.first == .sendToClient([21, 3, 3, 0, 2, 2, 70]))
        var (other, _) = self.stack(options(.intercept) { $0.minimum = .tls10 })
        let request = TLSRequest(leg: .server, names: ["chat.example.com"], maximum: .tls11)
        #expect(other.receive(ByteBuffer(bytes: old)) == [Self.timeout, .secure(request)])
    }

    /// A side that does not complete its handshake is not waited for.
    @Test func handshakesTakeOnlySoLong() {
        var (stack, _) = stack(options(.intercept))
        _ = stack.receive(ByteBuffer(bytes: hello(name: "a.b")))
        let text = "the server did not complete its handshake within 10000 ms (a.b)"
        #expect(
            stack.take(.woke) == [
                .sendToClient([21, 3, 3, 0, 2, 2, 80]), .close(EntryFault(text, .tlsFailed), isOrderly: true),
            ])
        var (other, _) = self.stack(options(.server))
        _ = other.receive(ByteBuffer(bytes: hello(name: "a.b")))
        let late = "the client did not complete its handshake within 10000 ms (a.b)"
        #expect(other.take(.woke) == [.close(EntryFault(late, .tlsFailed, by: .fromClient), isOrderly: false)])
    }

    /// Names of a certificate that was not verified are not vouched for.
    @Test func onlyVerifiedCertificatesAreCopied() {
        var (stack, _) = stack(options(.intercept) { $0.trust = .nothing })
        _ = stack.receive(ByteBuffer(bytes: hello(name: "a.b")))
        let outcome = TLSOutcome(version: .tls13, certificate: [1])
        let request = TLSRequest(leg: .client, names: ["a.b"], maximum: .tls13)
        #expect(stack.take(.secured(.server, outcome)) == [Self.timeout, .secure(request)])
        #expect(stack.connection.tls?.isVerified == false)
    }

    /// Clients are shown a P-256 certificate, unless they accept RSA only in the version that the server chose.
    @Test(arguments: [
        (ProtocolVersion.tls12, 0xc02b, [], TLSOptions.KeyKind.ecdsa), (.tls12, 0xc02f, [], .rsa),
        (.tls13, 0xc02f, [0x0804, 0x0403], .ecdsa), (.tls13, 0xc02b, [0x0804, 0x0503], .rsa),
        (.tls12, 0xc02b, [0x0804, 0x0503], .ecdsa), (.tls12, 0xc02b, [0x0401, 0x0804], .rsa),
    ])
    func theKeyIsOneThatTheClientAccepts(
        version: ProtocolVersion, suite: Int, signatures: [Int], key: TLSOptions.KeyKind
    ) {
        var (stack, _) = stack(options(.intercept))
        _ = stack.receive(ByteBuffer(bytes: hello(name: "a.b", suite: suite, signatures: signatures)))
        let actions = stack.take(.secured(.server, TLSOutcome(version: version)))
        guard case .secure(let request)? = actions.last else { return #expect(Bool(false), "\(actions)") }
        #expect(request.leg == .client && request.key == key)
    }

    /// TLS 1.2 needs the curve of the certificate's key, too (RFC 8422 section 5.1); TLS 1.3 does not.
    @Test(arguments: [
        (ProtocolVersion.tls12, [24], TLSOptions.KeyKind.rsa), (.tls12, [24, 23], .ecdsa), (.tls13, [24], .ecdsa),
    ])
    func theCurveIsOneThatTheClientHas(version: ProtocolVersion, groups: [Int], key: TLSOptions.KeyKind) {
        var (stack, _) = stack(options(.intercept))
        _ = stack.receive(ByteBuffer(bytes: hello(name: "a.b", groups: groups)))
        let actions = stack.take(.secured(.server, TLSOutcome(version: version)))
        guard case .secure(let request)? = actions.last else { return #expect(Bool(false), "\(actions)") }
        #expect(request.key == key)
    }

    /// The server gets the name that the user gave, the client a certificate for the one that it asked for.
    @Test func aGivenNameIsTheServers() {
        var (stack, _) = stack(options(.intercept) { $0.serverName = "named" })
        let request = TLSRequest(leg: .server, names: ["named"], maximum: .tls13)
        #expect(stack.receive(ByteBuffer(bytes: hello(name: "a.b"))) == [Self.timeout, .secure(request)])
        let actions = stack.take(.secured(.server, TLSOutcome(version: .tls13)))
        #expect(actions == [Self.timeout, .secure(TLSRequest(leg: .client, names: ["a.b"], maximum: .tls13))])
    }

    /// A client that connects by address sends no name, and expects the address.
    @Test func withoutANameTheAddressIsInTheCertificate() {
        var (stack, _) = stack(options(.intercept))
        _ = stack.receive(ByteBuffer(bytes: hello()))
        let request = TLSRequest(leg: .client, names: ["chat.example.com", "127.0.0.1"], maximum: .tls13)
        let actions = stack.take(.secured(.server, TLSOutcome(version: .tls13)))
        #expect(actions == [Self.timeout, .secure(request)])
    }

    @Test func oneSideOnly() {
        let (_, outwards) = stack(options(.client) { $0.serverName = "named" })
        #expect(outwards == [Self.timeout, .secure(TLSRequest(leg: .server, names: ["named"], maximum: .tls13))])
        var (inwards, actions) = stack(options(.server))
        #expect(actions == [Self.timeout] && inwards.take(.serverSpoke) == [])
        let request = TLSRequest(leg: .client, names: ["chat.example.com", "127.0.0.1"], maximum: .tls13)
        #expect(inwards.receive(ByteBuffer(bytes: hello())) == [Self.timeout, .secure(request)])
        var (plain, _) = stack(options(.server))
        guard case .close(let fault, _)? = plain.receive(ByteBuffer(string: "plain")).first else {
            Issue.record("plaintext is relayed to a server behind TLS")
            return
        }
        #expect(fault.reason == .tlsFailed && fault.side == .fromClient)
    }
}

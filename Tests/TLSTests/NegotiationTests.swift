import Streams
import TLS
import Testing

/// What is reported of handshakes, in recordings of real programs.
struct NegotiationTests {
    private func log(_ name: String, _ connection: Int = 0) throws -> TLSLog {
        let recording = try Recording(name)
        return run(recording.connections[connection], recording.keys).log
    }

    @Test(arguments: [
        ("tls13-TLS_AES_128_GCM_SHA256", "TLS 1.3 TLS_AES_128_GCM_SHA256"),
        ("tls13-TLS_CHACHA20_POLY1305_SHA256", "TLS 1.3 TLS_CHACHA20_POLY1305_SHA256"),
        ("tls13-TLS_AES_128_CCM_8_SHA256", "TLS 1.3 TLS_AES_128_CCM_8_SHA256"),
        ("tls12-ECDHE-PSK-CHACHA20-POLY1305", "TLS 1.2 TLS_ECDHE_PSK_WITH_CHACHA20_POLY1305_SHA256"),
        ("tls12-camellia", "TLS 1.2 TLS_RSA_WITH_CAMELLIA_128_CBC_SHA"),
        ("tls1_1-ECDHE-RSA-AES256-SHA", "TLS 1.1 TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA"),
        ("chat-tls10-cbc", "TLS 1.0 TLS_RSA_WITH_AES_128_CBC_SHA"),
    ])
    func `version and suite`(name: String, expected: String) throws {
        let negotiation = try #require(try log(name).negotiations.first)
        #expect("\(negotiation.version) \(negotiation.cipherSuite)" == expected)
    }

    @Test func `the client's hello and the protocol chosen`() throws {
        let log = try log("tls13-TLS_AES_128_GCM_SHA256")
        guard case .clientHello(let hello)? = log.events(.fromClient).first else {
            Issue.record("no ClientHello")
            return
        }
        #expect(hello.serverName == "localhost")
        #expect(hello.applicationProtocols == ["chat"])
        #expect(hello.supportedVersions == [.tls13])
        #expect(hello.cipherSuites.first?.name == "TLS_AES_128_GCM_SHA256")
        #expect(hello.legacyVersion == .tls12 && hello.sessionID.count == 32 && hello.compressionMethods == [0])
        #expect(hello.offersExtendedMasterSecret && hello.offersEncryptThenMAC && !hello.offersEarlyData)
        #expect(hello.pskKeyExchangeModes == [1] && !hello.keyShareGroups.isEmpty && !hello.signatureAlgorithms.isEmpty)
        #expect(log.negotiations.map(\.applicationProtocol) == ["chat"])
    }

    @Test(arguments: [
        ("tls12-ticket", [false, true]), ("tls12-session-id", [false, true]), ("tls13-ticket", [false, true]),
        ("tls13-psk", [true]), ("tls13-early-accepted", [false, true]), ("tls13-early-refused", [false, false]),
    ])
    func `resumed sessions`(name: String, expected: [Bool]) throws {
        let recording = try Recording(name)
        let resumed = recording.connections.flatMap { run($0, recording.keys).log.negotiations.map(\.isResumed) }
        #expect(resumed == expected)
    }

    @Test func `a HelloRetryRequest is no ServerHello`() throws {
        for name in ["tls13-hrr", "tls13-hrr-nomiddlebox"] {
            let log = try log(name)
            #expect(log.negotiations.map(\.wasRetried) == [true])
            guard case .helloRetryRequest(let hello)? = log.events(.fromServer).first else {
                Issue.record("no HelloRetryRequest in \(name)")
                continue
            }
            #expect(hello.isHelloRetryRequest && hello.keyShareGroup == 24)
            #expect(log.events(.fromClient).filter { if case .clientHello = $0 { true } else { false } }.count == 2)
        }
    }

    @Test func `early data, accepted and refused`() throws {
        #expect(try log("tls13-early-accepted", 1).negotiations.map(\.acceptsEarlyData) == [true])
        for name in ["tls13-early-refused", "tls13-early-refused-hrr"] {
            let log = try log(name, 1)
            #expect(log.negotiations.map(\.acceptsEarlyData) == [false])
            #expect(log.events(.fromClient).contains(.earlyDataSkipped(records: 1, byteCount: 322)))
        }
    }

    @Test(arguments: ["tls12-clientcert", "tls13-clientcert"])
    func `certificates of both sides`(name: String) throws {
        let log = try log(name)
        #expect(log.events(.fromServer).contains(.certificateRequested))
        for direction in Direction.allCases {
            let chains = log.events(direction).compactMap { event -> [[UInt8]]? in
                if case .certificate(let chain) = event { chain } else { nil }
            }
            #expect(chains.count == 1 && chains[0].count == 1)
            // DER: a sequence of this length.
            let der = chains[0][0]
            #expect(der[0] == 0x30 && der[1] == 0x82 && Int(der[2]) << 8 | Int(der[3]) == der.count - 4)
        }
    }

    @Test func `key updates of both sides`() throws {
        let log = try log("tls13-keyupdate-both")
        #expect(log.events(.fromClient).filter { $0 == .keyUpdated }.count == 3)
        #expect(log.events(.fromServer).filter { $0 == .keyUpdated }.count == 5)
    }

    @Test func `renegotiation`() throws {
        for (name, count) in [
            ("tls12-renegotiation", 2), ("tls12-server-renegotiation", 2), ("gnutls-tls10-rehandshake", 1),
        ] {
            let log = try log(name)
            #expect(log.events(.fromServer).filter { $0 == .renegotiated }.count == count)
            #expect(log.negotiations.count == count + 1)
        }
    }

    @Test func `alerts and truncation`() throws {
        let refused = try log("tls12-unknown-ca").events(.fromClient)
        #expect(refused.contains(.alert(Alert(level: 2, code: 48), isEncrypted: false)))
        #expect(
            try log("tls13-no-common").events(.fromServer) == [.alert(Alert(level: 2, code: 70), isEncrypted: false)])
        #expect(try log("tls13-truncated").events(.fromClient).last == .truncated(.withoutCloseNotify))
        let closed = try log("chat-tls13")
        for direction in Direction.allCases {
            #expect(closed.events(direction).last == .alert(Alert(level: 1, code: 0), isEncrypted: true))
        }
    }

    @Test func `encrypt-then-MAC is seen`() throws {
        #expect(try log("tls12-AES128-SHA256").negotiations.map(\.usesEncryptThenMAC) == [true])
        #expect(try log("gnutls-TLS1.2-cbc-noetm").negotiations.map(\.usesEncryptThenMAC) == [false])
    }

    @Test func `a suite that is not decrypted is named`() throws {
        let expected = TLSEvent.unsupported("TLS_RSA_WITH_CAMELLIA_128_CBC_SHA is not decrypted")
        #expect(try log("tls12-camellia").events(.fromServer).contains(expected))
    }
}

import Streams
import TLS
import Testing

/// What is shown of a ClientHello.
struct HelloFactsTests {
    /// A key log names a connection by its random; of an intercepted one there are two, and no key is needed.
    @Test func `the random of an intercepted connection is not shown`() throws {
        let recording = try Recording("tls13-TLS_AES_128_GCM_SHA256")
        let events = run(recording.connections[0], recording.keys).log.events(.fromClient)
        guard case .clientHello(let hello)? = events.first else {
            Issue.record("no ClientHello")
            return
        }
        for decryption in [nil, TLSFacts.Decryption.keys] {
            #expect(TLSFacts(hello, by: decryption).clientRandom == "\(hello.random)")
        }
        let intercepted = TLSFacts(hello, by: .intercepted)
        #expect(intercepted.clientRandom == nil && intercepted.serverName == "localhost")
    }
}

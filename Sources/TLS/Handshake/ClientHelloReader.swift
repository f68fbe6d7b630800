import Streams

/// Reads the ClientHello at the beginning of a client's bytes, cut anywhere and spread over any number of records.
///
/// Keeps at most a hello of 64 KiB and one record. After an answer other than `needsMore` it has done its work.
package struct ClientHelloReader: Sendable {
    /// What the bytes so far are.
    package enum Answer: Hashable, Sendable {
        /// The hello is not complete.
        case needsMore
        /// The hello.
        case hello(ClientHello)
        /// It is not TLS.
        case notTLS
        /// It is an older protocol, named.
        case unsupported(String)
        /// It began as TLS, and is not.
        case malformed(String)
    }

    private var messages = HelloMessages()

    /// A reader at the first byte that the client sent.
    package init() {}

    /// Adds the next bytes.
    package mutating func read(_ bytes: RawSpan) -> Answer {
        switch messages.add(bytes) {
        case .needsMore: return .needsMore
        case .notTLS: return .notTLS
        case .unsupported(let name): return .unsupported(name)
        case .malformed(let reason): return .malformed(reason)
        case .alert(let alert): return .malformed("the alert \(alert.name) in place of a ClientHello")
        case .message(let message):
            guard message.type == HandshakeType.clientHello else {
                return .malformed("the handshake message \(message.type) in place of a ClientHello")
            }
            guard let hello = ClientHello(message.body) else { return .malformed("a malformed ClientHello") }
            return .hello(hello)
        }
    }
}

import Streams

/// Reads the ServerHello at the beginning of a server's bytes, cut anywhere and spread over any number of records.
///
/// Keeps at most a hello of 64 KiB and one record. A HelloRetryRequest is passed over: ``retryRequest`` has it. After an answer
/// other than `needsMore` it has done its work.
package struct ServerHelloReader: Sendable {
    /// What the bytes so far are.
    package enum Answer: Hashable, Sendable {
        /// The hello is not complete.
        case needsMore
        /// The hello. In TLS 1.3 it does not have the protocol of ALPN.
        case hello(ServerHello)
        /// The server refuses with an alert.
        case alert(Alert)
        /// It is not TLS.
        case notTLS
        /// It is an older protocol, named.
        case unsupported(String)
        /// It began as TLS, and is not.
        case malformed(String)
    }

    private var messages = HelloMessages()
    /// The HelloRetryRequest that came before the hello (RFC 8446 section 4.1.4).
    package private(set) var retryRequest: ServerHello?

    /// A reader at the first byte that the server sent.
    package init() {}

    /// Adds the next bytes.
    package mutating func read(_ bytes: RawSpan) -> Answer {
        var step = messages.add(bytes)
        while true {
            switch step {
            case .needsMore: return .needsMore
            case .notTLS: return .notTLS
            case .unsupported(let name): return .unsupported(name)
            case .malformed(let reason): return .malformed(reason)
            case .alert(let alert): return .alert(alert)
            case .message(let message):
                guard message.type == HandshakeType.serverHello else {
                    return .malformed("the handshake message \(message.type) in place of a ServerHello")
                }
                guard let hello = ServerHello(message.body) else { return .malformed("a malformed ServerHello") }
                guard hello.isHelloRetryRequest, retryRequest == nil else { return .hello(hello) }
                retryRequest = hello
                step = messages.next()
            }
        }
    }
}

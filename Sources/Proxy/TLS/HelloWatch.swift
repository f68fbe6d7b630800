import NIOCore
import TLS

/// Reads the ServerHello of a handshake: TLS itself does not report the cipher suite.
final class HelloWatch: CiphertextTap {
    private let leg: TLSRequest.Leg
    private var reader: ServerHelloReader? = ServerHelloReader()
    /// The hello, once it was seen.
    private(set) var hello: ServerHello?

    /// - Parameter leg: the socket; on the client's the proxy sends the hello.
    init(on leg: TLSRequest.Leg) { self.leg = leg }

    func received(_ buffer: ByteBuffer) { if leg == .server { read(buffer) } }

    func sent(_ buffer: ByteBuffer) { if leg == .client { read(buffer) } }

    private func read(_ buffer: ByteBuffer) {
        let answer = buffer.withUnsafeReadableBytes { reader?.read($0.bytes) }
        switch answer {
        case .needsMore?, nil: return
        case .hello(let hello)?: self.hello = hello
        default: break
        }
        reader = nil
    }
}

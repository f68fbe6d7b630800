import NIOCore
import Platform
import Streams

extension Channel {
    /// Whether the program at the other end of a TCP connection has read all of the bytes that were written to it; nil if that
    /// cannot be known: it is on another machine, or in another network namespace.
    ///
    /// The receive queue alone would not prove it: it is empty, too, while the bytes are on their way.
    package func peerHasRead(_ sentBytes: Int, _ diagnosis: SocketDiagnosis) -> Bool? {
        guard let near = remoteAddress, let far = localAddress,
            let receiver = diagnosis.receiver(near: SocketDiagnosis.End(near), far: SocketDiagnosis.End(far))
        else { return nil }
        return receiver.received >= UInt64(sentBytes) && receiver.unread == 0
    }
}

extension SocketDiagnosis.End {
    fileprivate init(_ address: SocketAddress) {
        let endpoint = Endpoint(address).unmapped
        let halves =
            endpoint.address.isIPv4 ? [endpoint.address.low << 32] : [endpoint.address.high, endpoint.address.low]
        let bytes = halves.flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
        self.init(address: endpoint.address.isIPv4 ? Array(bytes.prefix(4)) : bytes, port: endpoint.port)
    }
}

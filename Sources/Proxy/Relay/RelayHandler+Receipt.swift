import NIOCore
import Platform
import Streams

extension RelayHandler {
    /// Whether the program at the other end of the socket has read everything that was written here; nil if that cannot be known:
    /// it is on another machine, or in another network namespace, or TLS lies in between.
    func hasBeenRead(_ diagnosis: SocketDiagnosis) -> Bool? {
        guard !hasTLS, let channel, let near = channel.remoteAddress, let far = channel.localAddress,
            let receiver = diagnosis.receiver(near: Self.end(near), far: Self.end(far))
        else { return nil }
        return receiver.received >= UInt64(sentBytes) && receiver.unread == 0
    }

    private static func end(_ address: SocketAddress) -> SocketDiagnosis.End {
        let endpoint = Endpoint(address).unmapped
        let halves =
            endpoint.address.isIPv4 ? [endpoint.address.low << 32] : [endpoint.address.high, endpoint.address.low]
        let bytes = halves.flatMap { half in (0..<8).map { UInt8(truncatingIfNeeded: half >> (56 - 8 * $0)) } }
        return SocketDiagnosis.End(
            address: endpoint.address.isIPv4 ? Array(bytes.prefix(4)) : bytes, port: endpoint.port)
    }
}

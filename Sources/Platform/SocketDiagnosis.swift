/// What the kernel knows about the TCP sockets of this machine's programs (Linux, sock_diag(7)): whether a program has read what was
/// sent to it. On other systems nothing is known.
///
/// One thread at a time.
package final class SocketDiagnosis {
    /// An address in network order, an IPv4 one in the first four bytes, and a port.
    package struct End {
        fileprivate let address: [UInt8]
        fileprivate let port: UInt16

        /// - Parameter address: 4 or 16 bytes.
        package init(address: [UInt8], port: UInt16) { (self.address, self.port) = (address, port) }
    }

    /// The receiving side of a socket.
    package struct Receiver: Hashable, Sendable {
        /// How many bytes wait to be read.
        package var unread: Int
        /// How many bytes have arrived.
        package var received: UInt64
    }

    private let descriptor: Int32

    deinit { close(descriptor) }

    #if os(Linux)
    /// NETLINK_SOCK_DIAG
    private static let family: Int32 = 4

    /// Nil if the kernel does not offer it.
    package init?() {
        let flags = Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        descriptor = socket(AF_NETLINK, flags, Self.family)
        if descriptor < 0 { return nil }
    }

    /// The socket of a program whose own end is `near`; nil if there is none on this machine, in this network namespace.
    package func receiver(near: End, far: End) -> Receiver? {
        guard near.address.count == far.address.count else { return nil }
        func bytes<Number: FixedWidthInteger>(_ number: Number) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }
        func padded(_ address: [UInt8]) -> [UInt8] { address + [UInt8](repeating: 0, count: 16 - address.count) }
        // inet_diag_req_v2: family, protocol (TCP), INET_DIAG_INFO, padding, all states, the socket's ends, any interface and cookie.
        var request: [UInt8] = [near.address.count == 4 ? 2 : 10, 6, 1 << 1, 0] + bytes(UInt32.max)
        request += bytes(near.port.bigEndian) + bytes(far.port.bigEndian) + padded(near.address) + padded(far.address)
        request += bytes(UInt32(0)) + bytes(UInt32.max) + bytes(UInt32.max)
        // nlmsghdr: length, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST.
        let message =
            bytes(UInt32(16 + request.count)) + bytes(UInt16(20)) + bytes(UInt16(1)) + bytes(UInt32(1))
            + bytes(UInt32(0)) + request
        guard message.withUnsafeBytes({ send(descriptor, $0.baseAddress, $0.count, 0) }) == message.count else {
            return nil
        }
        var answer = [UInt8](repeating: 0, count: 8_192)
        let count = answer.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress, $0.count, 0) }
        return count > 0 ? Self.parse(answer[..<count]) : nil
    }

    /// inet_diag_msg (72 bytes) after the header, then attributes; in INET_DIAG_INFO (2), tcpi_bytes_received is at 128.
    private static func parse(_ answer: ArraySlice<UInt8>) -> Receiver? {
        func number<Number: FixedWidthInteger>(_ offset: Int, as: Number.Type) -> Number? {
            guard offset >= 0, offset + MemoryLayout<Number>.size <= answer.count else { return nil }
            return answer.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: Number.self) }
        }
        guard number(4, as: UInt16.self) == 20, let unread = number(16 + 56, as: UInt32.self) else { return nil }
        var offset = 16 + 72
        while let length = number(offset, as: UInt16.self), let type = number(offset + 2, as: UInt16.self), length >= 4
        {
            if type == 2, length >= 4 + 136, let received = number(offset + 4 + 128, as: UInt64.self) {
                return Receiver(unread: Int(unread), received: received)
            }
            offset += (Int(length) + 3) & ~3
        }
        return nil
    }
    #else
    /// Nothing is known.
    package init?() {
        descriptor = -1
        return nil
    }

    /// Nothing is known.
    package func receiver(near: End, far: End) -> Receiver? { nil }
    #endif
}

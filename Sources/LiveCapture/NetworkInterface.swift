import CLibpcap
import Platform
import Streams

/// An interface that packets can be captured on, as libpcap lists it.
package struct NetworkInterface: Hashable, Sendable {
    /// Its name: `lo`, `eth0`, `any`.
    package var name: String
    /// The system's description of it, if any.
    package var description: String?
    /// Its IPv4 and IPv6 addresses.
    package var addresses: [IPAddress] = []
    /// Whether it is up.
    package var isUp = false
    /// Whether it has a link.
    package var isRunning = false
    /// Whether it is a loopback interface.
    package var isLoopback = false

    /// All interfaces, in the order in which libpcap would choose one.
    package static func all() throws(LiveCaptureError) -> [NetworkInterface] {
        let pcap = try Libpcap.functions()
        var first: UnsafeMutablePointer<pcap_if_t>?
        let (status, text) = errorText { pcap.findalldevs(&first, $0) }
        guard status == 0 else { throw LiveCaptureError(kind: .failed, message: "cannot list interfaces: \(text)") }
        defer { pcap.freealldevs(first) }
        var interfaces: [NetworkInterface] = []
        var next = first
        while let entry = next {
            interfaces.append(NetworkInterface(entry.pointee))
            next = entry.pointee.next
        }
        return interfaces
    }

    private init(_ entry: pcap_if_t) {
        name = entry.name.map { String(cString: $0) } ?? ""
        description = entry.description.map { String(cString: $0) }
        let flags = entry.flags
        isUp = flags & UInt32(PCAP_IF_UP) != 0
        isRunning = flags & UInt32(PCAP_IF_RUNNING) != 0
        isLoopback = flags & UInt32(PCAP_IF_LOOPBACK) != 0
        var next = entry.addresses
        while let address = next {
            if let socket = address.pointee.addr, let value = Self.address(socket) { addresses.append(value) }
            next = address.pointee.next
        }
    }

    /// The address in a socket address; nil if it is not an IPv4 or IPv6 address.
    private static func address(_ socket: UnsafeMutablePointer<sockaddr>) -> IPAddress? {
        switch Int32(socket.pointee.sa_family) {
        case AF_INET:
            return IPAddress(
                v4: InternetAddress.parts(of: UnsafeRawPointer(socket).loadUnaligned(as: sockaddr_in.self)).bits)
        case AF_INET6:
            let (high, low, _) = InternetAddress.parts(
                of: UnsafeRawPointer(socket).loadUnaligned(as: sockaddr_in6.self))
            return IPAddress(v6: high, low)
        default: return nil
        }
    }
}

/// Calls a function that puts an error message into a buffer of libpcap's size.
func errorText<Result>(_ call: (UnsafeMutablePointer<CChar>?) -> Result) -> (Result, String) {
    var buffer = [CChar](repeating: 0, count: Int(PCAP_ERRBUF_SIZE))
    let result = buffer.withUnsafeMutableBufferPointer { call($0.baseAddress) }
    return (result, String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
}

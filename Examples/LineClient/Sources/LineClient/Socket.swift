#if canImport(Glibc)
import Glibc
private let streamType = Int32(SOCK_STREAM.rawValue)
#elseif canImport(Darwin)
import Darwin
private let streamType = SOCK_STREAM
#endif

/// A TCP socket that waits.
public struct Socket: Sendable {
    /// What the system refused.
    public struct Failure: Error {
        /// The call, and why.
        public let description: String
    }

    private let descriptor: Int32

    private static func attempt(_ call: String, _ result: Int32) throws -> Int32 {
        if result < 0 { throw Failure(description: "\(call): \(String(cString: strerror(errno)))") }
        return result
    }

    private static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        return address
    }

    private static func withAddress<Result>(
        port: Int, _ use: (UnsafePointer<sockaddr>, socklen_t) throws -> Result
    ) rethrows -> Result {
        let address = address(port: port)
        return try withUnsafePointer(to: address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                try use($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }

    /// Connects; this example only knows this machine.
    public init(connectedTo host: String, port: Int) throws {
        let descriptor = try Self.attempt("socket", socket(AF_INET, streamType, 0))
        _ = try Self.withAddress(port: port) { try Self.attempt("connect", connect(descriptor, $0, $1)) }
        self.descriptor = descriptor
    }

    /// Listens on a free port.
    public init(listening: Void) throws {
        let descriptor = try Self.attempt("socket", socket(AF_INET, streamType, 0))
        _ = try Self.withAddress(port: 0) { try Self.attempt("bind", bind(descriptor, $0, $1)) }
        _ = try Self.attempt("listen", listen(descriptor, 8))
        self.descriptor = descriptor
    }

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// The port on which it listens.
    public var port: Int {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// The next client; nil where the socket is closed.
    public func accepted() -> Socket? {
        let client = accept(descriptor, nil, nil)
        return client < 0 ? nil : Socket(client)
    }

    /// Writes text.
    public func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        _ = try Self.attempt("send", Int32(send(descriptor, bytes, bytes.count, 0)))
    }

    /// Reads up to the next line feed, without it.
    public func readLine() throws -> String {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while try Self.attempt("recv", Int32(recv(descriptor, &byte, 1, 0))) == 1, byte != UInt8(ascii: "\n") {
            line.append(byte)
        }
        return String(decoding: line, as: UTF8.self)
    }

    /// Ends it.
    public func close() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        #if canImport(Glibc)
        _ = Glibc.close(descriptor)
        #else
        _ = Darwin.close(descriptor)
        #endif
    }
}

import Streams

/// The cleartext content of a TLS stream's first handshake message: ClientHello or ServerHello.
///
///     handshake    u8 type (1, 2)   u24 length
///     hello        u16 version   32 random   session id <u8>
///     client       cipher suites <u16>   compression <u8>   extensions <u16>
///     server       cipher suite u16      compression u8     extensions <u16>
///     extension    u16 type   data <u16>
///
/// Source: RFC 8446 sections 4.1.2, 4.1.3 and 4.2; RFC 6066 section 3 (server name); RFC 7301 section 3.1 (ALPN).
struct TLSHello {
    /// Whether it is the client's.
    private(set) var isClient = false
    /// The server that the client wants to reach.
    private(set) var serverName: String?
    /// The protocols offered, or the one selected.
    private(set) var protocols: [String] = []
    /// The versions offered, or the one selected.
    private(set) var versions: [String] = []

    /// The result of reading a hello.
    enum Reading {
        /// Its end was not seen yet.
        case incomplete
        /// It is malformed.
        case malformed
        case complete(TLSHello)
    }

    /// Reads the hello in the records that a stream begins with.
    static func read(_ stream: RawSpan) -> Reading {
        var message: [UInt8] = []
        var at = 0
        while true {
            if message.count >= 4 {
                let length = Int(message[1]) << 16 | Int(message[2]) << 8 | Int(message[3])
                if message.count >= 4 + length {
                    return TLSHello(message[0], message[4..<4 + length]).map { .complete($0) } ?? .malformed
                }
            }
            guard at + 5 <= stream.byteCount else { return .incomplete }
            guard stream[byte: at] == 22 else { return .malformed }
            let end = at + 5 + (Int(stream[byte: at + 3]) << 8 | Int(stream[byte: at + 4]))
            guard end > at + 5 else { return .malformed }
            message += stream.copied(at + 5..<min(end, stream.byteCount))
            at = end
        }
    }

    private init?(_ type: UInt8, _ body: ArraySlice<UInt8>) {
        var reader = Reader(body)
        isClient = type == 1
        guard let version = reader.number(2), reader.take(32) != nil, reader.vector(1) != nil else { return nil }
        if isClient {
            guard reader.vector(2) != nil, reader.vector(1) != nil else { return nil }
        } else {
            guard reader.take(3) != nil else { return nil }
        }
        versions = [Self.name(ofVersion: version)]
        guard !reader.isAtEnd else { return }
        guard var extensions = reader.vector(2).map({ Reader($0) }) else { return nil }
        while !extensions.isAtEnd {
            guard let type = extensions.number(2), let data = extensions.vector(2) else { return nil }
            take(type, Reader(data))
        }
    }

    private mutating func take(_ type: Int, _ data: Reader) {
        var data = data
        switch type {
        case 0 where isClient:
            guard var names = data.vector(2).map({ Reader($0) }), names.number(1) == 0, let name = names.vector(2)
            else {
                return
            }
            serverName = String(decoding: name, as: UTF8.self)
        case 16:
            guard var list = data.vector(2).map({ Reader($0) }) else { return }
            while let name = list.vector(1) { protocols.append(String(decoding: name, as: UTF8.self)) }
        case 43 where isClient:
            guard var list = data.vector(1).map({ Reader($0) }) else { return }
            var offered: [String] = []
            while let version = list.number(2) {
                // GREASE values, reserved so that servers ignore unknown values (RFC 8701).
                if version & 0x0f0f != 0x0a0a { offered.append(Self.name(ofVersion: version)) }
            }
            if !offered.isEmpty { versions = offered }
        case 43:
            if let version = data.number(2) { versions = [Self.name(ofVersion: version)] }
        default: return
        }
    }

    private static func name(ofVersion version: Int) -> String {
        switch version {
        case 0x0300: "SSL 3.0"
        case 0x0301...0x0304: "TLS 1.\(version - 0x0301)"
        default: "0x" + String(version, radix: 16)
        }
    }

    /// Human-readable: `server name example.com; ALPN h2, http/1.1; offers TLS 1.3, TLS 1.2`.
    var description: String {
        var parts: [String] = []
        if let serverName { parts.append("server name \(serverName)") }
        if !protocols.isEmpty { parts.append("ALPN \(protocols.joined(separator: ", "))") }
        let versions = versions.joined(separator: ", ")
        parts.append(isClient ? "offers \(versions)" : "chose \(versions)")
        return parts.joined(separator: "; ")
    }

    /// Reads consecutive numbers and vectors, big-endian.
    private struct Reader {
        private var rest: ArraySlice<UInt8>

        init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

        var isAtEnd: Bool { rest.isEmpty }

        mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
            guard rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return rest.prefix(count)
        }

        mutating func number(_ width: Int) -> Int? {
            take(width).map { $0.reduce(0) { $0 << 8 | Int($1) } }
        }

        /// Bytes preceded by their length, which has `width` bytes.
        mutating func vector(_ width: Int) -> ArraySlice<UInt8>? {
            let before = rest
            guard let count = number(width), let bytes = take(count) else {
                rest = before
                return nil
            }
            return bytes
        }
    }
}

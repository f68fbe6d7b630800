import NIOCore
import Platform

/// The server's side of a SOCKS 5 negotiation (RFC 1928) up to the client's request: pure state, without sockets.
///
///     client: 05 COUNT METHOD…                    greeting (section 3)
///     server: 05 METHOD                           00: no authentication, ff: none of these
///     client: 05 COMMAND 00 TYPE ADDRESS PORT     request (section 4)
///     server: 05 REPLY 00 TYPE ADDRESS PORT       (section 6)
///
/// It takes bytes as they arrive, in any pieces, and no byte after the request: clients may send the request immediately after
/// the greeting, and their first bytes immediately after the request. The messages are at most 257 and 262 bytes long.
struct SOCKSNegotiation: Hashable, Sendable {
    private enum State: Hashable {
        case greeting, request, over
    }

    private var state = State.greeting
    /// The bytes of the incomplete message.
    private var held: [UInt8] = []

    /// Whether more bytes are wanted.
    var isOver: Bool { state == .over }

    /// Consumes the bytes of a buffer that belong to the negotiation; the rest stays in it.
    mutating func take(_ buffer: inout ByteBuffer) -> [EntryAction] {
        var actions: [EntryAction] = []
        while !isOver, let byte = buffer.readInteger(as: UInt8.self) {
            held.append(byte)
            switch state {
            case .greeting: actions += takeGreeting()
            case .request: actions += takeRequest()
            case .over: break
            }
        }
        return actions
    }

    private mutating func takeGreeting() -> [EntryAction] {
        if let wrong = wrongVersion() { return wrong }
        guard held.count >= 2, held.count == 2 + Int(held[1]) else { return [] }
        guard held[2...].contains(0) else {
            return over(
                .sendToClient([5, 0xff]),
                Self.close("the SOCKS client insists on authentication, and there is none here"))
        }
        state = .request
        held = []
        return [.sendToClient([5, 0])]
    }

    private mutating func takeRequest() -> [EntryAction] {
        if let wrong = wrongVersion() { return wrong }
        if held.count >= 3, held[2] != 0 {
            return refuse(.serverFailure, "the client does not speak SOCKS 5: the reserved byte is \(held[2]), not 0")
        }
        guard held.count >= 5 else {
            guard held.count == 4, ![1, 3, 4].contains(held[3]) else { return [] }
            return refuse(.addressUnsupported, "the SOCKS client asked for an address of type \(held[3])")
        }
        let length = held[3] == 1 ? 4 : held[3] == 4 ? 16 : 1 + Int(held[4])
        guard held.count == 4 + length + 2 else { return [] }
        guard held[1] == 1 else {
            return refuse(
                .commandUnsupported, "the SOCKS client asked for command \(held[1]), not for CONNECT")
        }
        let address = held[4..<4 + length]
        let port = Int(held[4 + length]) << 8 | Int(held[5 + length])
        guard let host = held[3] == 3 ? Self.name(address.dropFirst()) : Self.text(of: Array(address)) else {
            return refuse(.hostUnreachable, "the SOCKS client asked for a host name that is none")
        }
        return over(.connect(.tcp(HostPort(host: host, port: port))))
    }

    private mutating func wrongVersion() -> [EntryAction]? {
        guard let version = held.first, version != 5 else { return nil }
        let reason =
            switch version {
            // The request comes after a greeting of SOCKS 5.
            case _ where state == .request:
                "the client does not speak SOCKS 5: its request begins with \(version), not 5"
            case 4: "the client speaks SOCKS 4, not 5"
            // A method, such as CONNECT or GET (RFC 9112 section 3).
            case UInt8(ascii: "A")...UInt8(ascii: "Z"):
                "the client speaks HTTP, not SOCKS 5: set its proxy as socks5h://, not as http://"
            // A handshake's record (RFC 8446 section 5.1).
            case 0x16: "the client speaks TLS, not SOCKS 5"
            default: "the client does not speak SOCKS 5: its first byte is \(version)"
            }
        return over(Self.close(reason))
    }

    private mutating func refuse(_ reply: SOCKSReply, _ reason: String) -> [EntryAction] {
        over(.sendToClient(reply.bytes()), Self.close(reason))
    }

    private mutating func over(_ actions: EntryAction...) -> [EntryAction] {
        state = .over
        held = []
        return actions
    }

    private static func close(_ reason: String) -> EntryAction { .close(EntryFault(reason), isOrderly: true) }

    /// A name that the system's resolver can take: it would stop at a NUL, and log or show other characters that a name must not
    /// contain.
    private static func name(_ bytes: ArraySlice<UInt8>) -> String? {
        guard !bytes.isEmpty, bytes.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { return nil }
        guard let name = String(validating: bytes, as: UTF8.self) else { return nil }
        // Some clients put an IPv6 address in brackets, as in a URL, where a name belongs.
        let bare = name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
        return bare.contains(":") && HostPort(host: bare, port: 0).isLiteral ? bare : name
    }

    /// The text form of an address of 4 or 16 bytes.
    private static func text(of bytes: [UInt8]) -> String? {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        guard inet_ntop(family, bytes, &text, socklen_t(text.count)) != nil else { return nil }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

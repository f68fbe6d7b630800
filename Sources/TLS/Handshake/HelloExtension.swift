/// One extension of a hello (RFC 8446 section 4.2).
struct HelloExtension {
    let type: UInt16
    let body: ArraySlice<UInt8>

    static let serverName: UInt16 = 0
    static let statusRequest: UInt16 = 5
    static let supportedGroups: UInt16 = 10
    static let signatureAlgorithms: UInt16 = 13
    static let alpn: UInt16 = 16
    static let encryptThenMAC: UInt16 = 22
    static let extendedMasterSecret: UInt16 = 23
    static let sessionTicket: UInt16 = 35
    static let preSharedKey: UInt16 = 41
    static let earlyData: UInt16 = 42
    static let supportedVersions: UInt16 = 43
    static let pskKeyExchangeModes: UInt16 = 45
    static let keyShare: UInt16 = 51

    /// Values reserved so that implementations stay tolerant (RFC 8701): 0x0a0a, 0x1a1a, …, 0xfafa.
    static func isGREASE(_ value: UInt16) -> Bool {
        value & 0x0f0f == 0x0a0a && value >> 8 == value & 0xff
    }

    /// The extensions that follow, if any do; nil if they are malformed.
    static func list(_ reader: inout ByteReader) -> [HelloExtension]? {
        guard !reader.isAtEnd else { return [] }
        guard let block = reader.vector(2), reader.isAtEnd else { return nil }
        var entries = ByteReader(block)
        var list: [HelloExtension] = []
        while !entries.isAtEnd {
            guard let type = entries.u16(), let body = entries.vector(2) else { return nil }
            list.append(HelloExtension(type: type, body: body))
        }
        return list
    }

    /// A list of protocol names (RFC 7301 section 3.1); nil if malformed.
    static func protocolNames(_ body: ArraySlice<UInt8>) -> [[UInt8]]? {
        var reader = ByteReader(body)
        guard let list = reader.vector(2) else { return nil }
        var names = ByteReader(list)
        var result: [[UInt8]] = []
        while !names.isAtEnd {
            guard let name = names.vector(1) else { return nil }
            result.append(Array(name))
        }
        return result
    }
}

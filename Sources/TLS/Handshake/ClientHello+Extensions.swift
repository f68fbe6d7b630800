extension ClientHello {
    /// Reads one extension; false if it is malformed.
    mutating func take(_ entry: HelloExtension) -> Bool {
        var reader = ByteReader(entry.body)
        switch entry.type {
        case HelloExtension.serverName: return takeServerName(&reader)
        case HelloExtension.alpn:
            guard let names = HelloExtension.protocolNames(entry.body) else { return false }
            // GREASE names are two bytes, such as 0x0a 0x0a (RFC 8701 section 2).
            applicationProtocols = names.filter { !ClientHello.isGREASEName($0) }
                .map { String(decoding: $0, as: UTF8.self) }
        case HelloExtension.supportedVersions:
            guard let versions = reader.numbers(1) else { return false }
            supportedVersions = versions.filter { !HelloExtension.isGREASE($0) }
                .map { ProtocolVersion(rawValue: $0) }
        case HelloExtension.supportedGroups:
            guard let groups = reader.numbers(2) else { return false }
            supportedGroups = groups.filter { !HelloExtension.isGREASE($0) }
        case HelloExtension.signatureAlgorithms:
            guard let algorithms = reader.numbers(2) else { return false }
            signatureAlgorithms = algorithms.filter { !HelloExtension.isGREASE($0) }
        case HelloExtension.keyShare: return takeKeyShares(&reader)
        case HelloExtension.pskKeyExchangeModes:
            guard let modes = reader.vector(1) else { return false }
            pskKeyExchangeModes = Array(modes)
        case HelloExtension.preSharedKey: return takeIdentities(&reader)
        case HelloExtension.sessionTicket: offersSessionTicket = !entry.body.isEmpty
        case HelloExtension.earlyData: offersEarlyData = true
        case HelloExtension.encryptThenMAC: offersEncryptThenMAC = true
        case HelloExtension.extendedMasterSecret: offersExtendedMasterSecret = true
        case HelloExtension.statusRequest: requestsStatus = true
        default: break
        }
        return true
    }

    private static func isGREASEName(_ name: [UInt8]) -> Bool {
        name.count == 2 && HelloExtension.isGREASE(UInt16(name[0]) << 8 | UInt16(name[1]))
    }

    private mutating func takeServerName(_ reader: inout ByteReader) -> Bool {
        guard let list = reader.vector(2) else { return false }
        var names = ByteReader(list)
        while !names.isAtEnd {
            guard let type = names.u8(), let name = names.vector(2) else { return false }
            if type == 0, serverName == nil { serverName = String(decoding: name, as: UTF8.self) }
        }
        return true
    }

    private mutating func takeKeyShares(_ reader: inout ByteReader) -> Bool {
        guard let list = reader.vector(2) else { return false }
        var shares = ByteReader(list)
        while !shares.isAtEnd {
            guard let group = shares.u16(), shares.vector(2) != nil else { return false }
            if !HelloExtension.isGREASE(group) { keyShareGroups.append(group) }
        }
        return true
    }

    /// Identities with their ages (RFC 8446 section 4.2.11); the binders after them are not read.
    private mutating func takeIdentities(_ reader: inout ByteReader) -> Bool {
        guard let list = reader.vector(2) else { return false }
        var identities = ByteReader(list)
        while !identities.isAtEnd {
            guard identities.vector(2) != nil, identities.number(4) != nil else { return false }
            pskIdentityCount += 1
        }
        return true
    }
}

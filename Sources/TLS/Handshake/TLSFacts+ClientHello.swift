import Streams

extension TLSFacts {
    /// What a ClientHello says.
    package init(_ hello: ClientHello, by decryption: Decryption? = nil) {
        self.init(by: decryption)
        serverName = hello.serverName
        if decryption != .intercepted { clientRandom = "\(hello.random)" }
        offeredProtocols = hello.applicationProtocols
        let versions = hello.supportedVersions.isEmpty ? [hello.legacyVersion] : hello.supportedVersions
        offeredVersions = versions.map { "\($0)" }
    }
}

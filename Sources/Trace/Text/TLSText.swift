import Streams

/// A connection's TLS in a line for people.
package enum TLSText {
    /// `TLS 1.3, TLS_AES_128_GCM_SHA256, chat.example.com, h2, decrypted by the proxy`
    package static func of(_ facts: TLSFacts) -> String {
        var parts: [String] = []
        if let version = facts.version {
            parts.append(version)
        } else if let newest = facts.offeredVersions.first {
            parts.append("TLS, \(newest) offered")
        } else {
            parts.append("TLS")
        }
        if let suite = facts.cipherSuite { parts.append(suite) }
        if let name = facts.serverName { parts.append(name) }
        if let name = facts.applicationProtocol {
            parts.append(name)
        } else if !facts.offeredProtocols.isEmpty {
            parts.append("offers \(facts.offeredProtocols.joined(separator: " "))")
        }
        if facts.isResumed { parts.append("resumed") }
        switch facts.decryption {
        case .intercepted: parts.append("decrypted by the proxy")
        case .keys: parts.append("decrypted with keys")
        case nil: parts.append("not decrypted" + (facts.clientRandom.map { " (client random \($0))" } ?? ""))
        }
        if let certificate = facts.certificate { parts.append("certificate of \(certificate.subject)") }
        if facts.isVerified == false { parts.append("the server's certificate was not verified (--insecure-server)") }
        return parts.joined(separator: ", ")
    }
}

extension CertificateSummary {
    /// Why a client that asked for a name would not accept this certificate, in words, as far as the certificate alone shows it: the
    /// authority that signed it may be unknown.
    ///
    /// - Parameter name: the host name or address that was asked for; nil: any.
    package func flaw(for name: String?, at now: CertificateTime) -> String {
        if notAfter < now { return "it expired on \(notAfter)" }
        if now < notBefore { return "it is not valid before \(notBefore)" }
        if let name, !covers(name) {
            let known = names.isEmpty ? "no names" : names.prefix(5).joined(separator: ", ")
            return "it is not for \(name), but for \(known)"
        }
        if isSelfSigned { return "it is self-signed, and is not among the trusted ones" }
        return "it was issued by an unknown authority (\(issuer))"
    }

    /// Whether the certificate is for a name; a `*` stands for one label in front (RFC 9525 section 6.3).
    private func covers(_ name: String) -> Bool {
        let name = name.lowercased()
        return names.contains { pattern in
            let pattern = pattern.lowercased()
            guard pattern.hasPrefix("*.") else { return pattern == name }
            return name.split(separator: ".", maxSplits: 1).last.map { $0 == pattern.dropFirst(2) } ?? false
                && name.contains(".")
        }
    }
}

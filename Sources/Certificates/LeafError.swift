/// Why no certificate was issued.
package enum LeafError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The name cannot be in a certificate.
    case name(String, String)
    /// There is no name to issue a certificate for.
    case noNames
    /// The authority's own certificate is no longer valid, so nothing that it signs would be.
    case expired(CertificateTime)
    /// The certificate could not be made, which is not known to happen: what the library said.
    case failed(String)

    /// For people, in one line.
    package var description: String {
        switch self {
        case .name(let name, let flaw):
            // Names are from the network, and may be long.
            "no certificate for \(String(reflecting: String(name.prefix(80)))): the name \(flaw)"
        case .noNames:
            "no certificate for a client that names no server; expected a name or an address"
        case .expired(let time):
            "the CA certificate expired at \(time); expected a valid one: frametap ca create --force"
        case .failed(let reason):
            "cannot issue a certificate: \(reason)"
        }
    }
}

/// Why a certificate and a key are not an authority that frametap can use.
package struct AuthorityError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file that is at fault.
    package enum Part: String, Sendable {
        /// The certificate.
        case certificate
        /// The private key.
        case key
    }

    /// The file that is at fault.
    package var part: Part
    /// What is wrong with it and what was expected; follows the file's name.
    package var reason: String

    init(_ part: Part, _ reason: String) {
        self.part = part
        self.reason = reason
    }

    /// For people, in one line.
    package var description: String { "the CA's \(part.rawValue) \(reason)" }
}

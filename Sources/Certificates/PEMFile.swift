import SwiftASN1

/// Reading PEM that people supply.
enum PEMFile {
    /// The parts of a PEM file: one at least.
    static func documents(of text: String, _ part: AuthorityError.Part) throws(AuthorityError) -> [PEMDocument] {
        let expected = part == .certificate ? "CERTIFICATE" : "PRIVATE KEY"
        let documents: [PEMDocument]
        do {
            documents = try PEMDocument.parseMultiple(pemString: text)
        } catch {
            throw AuthorityError(
                part,
                "is damaged: expected base64 between -----BEGIN \(expected)----- and -----END \(expected)-----")
        }
        if documents.isEmpty {
            throw AuthorityError(part, "is not PEM; expected text with a line -----BEGIN \(expected)-----")
        }
        return documents
    }
}

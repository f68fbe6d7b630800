import Framing
import Streams

/// A body in a few columns: text as it is, a picture by its name, anything else in hex.
enum BodyPreview {
    /// At most how many columns a preview takes, and how many bytes of a body it examines.
    private static let mostColumns = 4_096
    static let mostBytes = 4 * mostColumns + 4

    /// Adds the preview.
    ///
    /// - Parameter columns: what text may take; hex is always short.
    static func add(_ body: RawSpan, _ decoded: DecodedBody, columns: Int, to piece: inout TextPiece) {
        guard let bytes = decoded.bytes else { return add(body, decoded.form, columns: columns, to: &piece) }
        add(bytes.span.bytes, decoded.form, columns: columns, to: &piece)
    }

    private static func add(_ body: RawSpan, _ form: DecodedBody.Form, columns: Int, to piece: inout TextPiece) {
        guard body.byteCount > 0 else { return }
        if form != .opaque {
            // No more bytes than this can fit, whatever they are.
            let end = body.characterBoundary(before: min(body.byteCount, 4 * min(columns, mostColumns) + 4))
            return piece.put(printable: body.extracting(0..<end), columns: columns)
        }
        let name = name(of: body)
        if let name {
            piece.put(name)
            piece.put(ascii: " ")
        }
        let count = min(body.byteCount, name == nil ? 8 : 4)
        for offset in 0..<count {
            if offset > 0 { piece.put(ascii: " ") }
            piece.put(hex: body[byte: offset])
        }
        if name == nil, body.byteCount > count { piece.put(" …", columns: 2) }
    }

    private static func name(of body: RawSpan) -> String? {
        signatures.first { signature in
            guard body.byteCount >= signature.bytes.count else { return false }
            return signature.bytes.indices.allSatisfy { body[byte: $0] == signature.bytes[$0] }
        }?.name
    }

    private static let signatures: [(name: String, bytes: [UInt8])] = [
        ("JPEG", [0xff, 0xd8, 0xff]),
        ("PNG", [0x89, 0x50, 0x4e, 0x47]),
        ("GIF", [0x47, 0x49, 0x46, 0x38]),
        ("gzip", [0x1f, 0x8b, 0x08]),
        ("PDF", [0x25, 0x50, 0x44, 0x46]),
        ("ZIP", [0x50, 0x4b, 0x03, 0x04]),
    ]
}

import Framing
import Streams

/// A body in a few columns: text as it is, a picture by its name, anything else in hex.
enum BodyPreview {
    /// The preview.
    ///
    /// - Parameter columns: what text may take; hex is always short.
    static func of(_ body: RawSpan, _ decoded: DecodedBody, columns: Int) -> String {
        decoded.withBytes(of: body) { of($0, decoded.form, columns: columns) }
    }

    private static func of(_ body: RawSpan, _ form: DecodedBody.Form, columns: Int) -> String {
        guard body.byteCount > 0 else { return "" }
        if form != .opaque {
            // More bytes than this cannot fit, whatever they are.
            let shown = body.extracting(
                0..<body.characterBoundary(before: min(body.byteCount, 4 * min(columns, 4_096) + 4)))
            let text = shown.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
            return PrintableText.of(text, columns: columns)
        }
        let start = body.extracting(0..<min(body.byteCount, 8)).copied()
        let name = signatures.first { start.starts(with: $0.bytes) }?.name
        let count = name == nil ? 8 : 4
        let hex = start.prefix(count).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
        return [name, hex + (name == nil && body.byteCount > count ? " …" : "")].compactMap { $0 }.joined(
            separator: " ")
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

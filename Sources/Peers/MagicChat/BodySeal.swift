import Framing
import Streams

/// Encrypts and decrypts bodies as the format specifies: AES, if there is a key.
package struct BodySeal: Sendable {
    /// The format with its key; nil if bodies are sent in the clear.
    private let format: Format?

    /// - Parameter key: 16, 24 or 32 bytes; nil if bodies are sent in the clear.
    /// - Throws: `PeerError` for a key of another length.
    package init(_ format: Format, key: [UInt8]?) throws(PeerError) {
        guard let key else {
            self.format = nil
            return
        }
        var format = format
        do throws(BodyResourceError) {
            try format.use(BodyResources(keys: [format.name: key]))
        } catch {
            throw PeerError(error.description)
        }
        self.format = format
    }

    /// JSON, or nothing, in its wire form. Nothing stays nothing.
    func close(_ body: [UInt8], from direction: Direction) -> [UInt8] {
        guard let format else { return body }
        let content = BodyContent.json(body)
        // With a key of a valid length nothing can fail; if it did, sending nothing is better than sending the clear text.
        return (try? format.directions[direction].body.encode(content, type: nil)) ?? []
    }

    /// The contents of a body on the wire. A body that cannot be decrypted stays as it is.
    func open(_ body: [UInt8], from direction: Direction) -> [UInt8] {
        guard let format else { return body }
        let bytes = body.span.bytes
        return format.directions[direction].body.decode(bytes, type: nil).withBytes(of: bytes) { $0.copied() }
    }
}

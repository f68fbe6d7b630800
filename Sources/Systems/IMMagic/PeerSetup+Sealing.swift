import Framing
import Streams

extension PeerSetup {
    /// A body in its wire form, AES if there is a key. Nothing stays nothing.
    func sealed(_ body: [UInt8], from direction: Direction) -> [UInt8] {
        guard options.key != nil else { return body }
        // With a key of a valid length nothing can fail; if it did, sending nothing is better than sending the clear text.
        return (try? format.directions[direction].body.encode(.json(body), type: nil)) ?? []
    }

    /// The contents of a body on the wire. A body that cannot be decrypted stays as it is.
    func unsealed(_ body: [UInt8], from direction: Direction) -> [UInt8] {
        guard options.key != nil else { return body }
        let bytes = body.span.bytes
        return format.directions[direction].body.decode(bytes, type: nil).withBytes(of: bytes) { $0.copied() }
    }
}

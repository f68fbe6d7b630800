import Framing
import Streams

/// A format with this `body`.
func format(body yaml: String) throws -> Format {
    try FormatLoader.load(
        """
        format: mine
        framing: { rule: head-and-body, head: json, ends: "\\r\\n", size: size }
        body: \(yaml)
        """, file: "mine.yaml")
}

/// The bodies that a format file's `body` describes.
func bodies(_ yaml: String, _ resources: BodyResources = BodyResources()) throws -> BodyFormat {
    var format = try format(body: yaml)
    try format.use(resources)
    return format.directions.fromClient.body
}

/// The error in a format file with this body.
func faults(body yaml: String) -> [String] {
    do {
        _ = try bodies(yaml)
        return []
    } catch let error as FormatFileError {
        return error.faults.map(\.description)
    } catch {
        return ["\(error)"]
    }
}

/// A decoded body, as a trace would show it.
struct Shown: Hashable, CustomStringConvertible {
    var form: DecodedBody.Form
    var bytes: [UInt8]
    var faults: [BodyFault]

    init(_ form: DecodedBody.Form, _ text: String, faults: [BodyFault] = []) {
        self.init(form, Array(text.utf8), faults: faults)
    }

    init(_ form: DecodedBody.Form, _ bytes: [UInt8], faults: [BodyFault] = []) {
        self.form = form
        self.bytes = bytes
        self.faults = faults
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }
    var kinds: [BodyFault.Kind] { faults.map(\.kind) }
    var description: String { "\(form) \(form == .opaque ? hex(bytes) : text) \(faults.map(\.message))" }
}

extension BodyFormat {
    func show(_ body: [UInt8], type: String? = nil) -> Shown {
        let decoded = decode(body.span.bytes, type: type)
        return Shown(decoded.form, decoded.withBytes(of: body.span.bytes) { $0.copied() }, faults: decoded.faults)
    }

    func show(_ text: String, type: String? = nil) -> Shown { show(Array(text.utf8), type: type) }
}

extension Shown {
    /// The value that must be encoded to get this.
    var content: BodyContent {
        switch form {
        case .text: .text(text)
        case .json: .json(bytes)
        case .protobuf: .protobuf(bytes)
        case .fields: .fields(bytes)
        case .opaque: .bytes(bytes)
        }
    }
}

func bytes(hex: String) throws -> [UInt8] { try Base16.decode(Array(hex.utf8).span.bytes) }

func bytes(base64: String) throws -> [UInt8] { try Base64.decode(Array(base64.utf8).span.bytes) }

func hex(_ bytes: [UInt8]) -> String { String(decoding: Base16.encode(bytes), as: UTF8.self) }

/// Checks that no truncation and no flipped bit of a body traps, and that each gives a value or a fault.
func expectHostileBodiesAreHarmless(_ format: BodyFormat, _ body: [UInt8], type: String? = nil) {
    for count in 0..<body.count { _ = format.show(Array(body.prefix(count)), type: type) }
    for at in body.indices {
        for bit in 0..<8 {
            var changed = body
            changed[at] ^= 1 << UInt8(bit)
            _ = format.show(changed, type: type)
        }
    }
}

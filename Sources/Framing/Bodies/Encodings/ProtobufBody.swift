import Streams
import YAML

/// The encoding `protobuf`: a message, shown as JSON by field number, or by name with `--descriptor-set FILE`.
///
///     protobuf: { message: chat.Message }                       every body is one
///     protobuf: { messages: { 1: chat.Login, text: Text } }     by the frame's type, as traces show it
///
/// A message is named in full, or by its last part. A frame whose type is not in the table is decoded as the message that its
/// type names, or by number if there is none.
struct ProtobufBody: BodyEncoding {
    static let name = "protobuf"
    static let keys = KeySection(
        "body.protobuf", "a Protobuf message, by field number, or by name with `--descriptor-set FILE`",
        [
            FormatKey("message", .text("a name"), "the message that every body is"),
            FormatKey("messages", .mapping(.text("a name")), "the messages by the frame's type"),
        ])

    private let message: String?
    private let messages: [String: String]
    private var schema: MessageSchema?

    init(_ options: YAMLMap?) {
        message = options?.text("message")
        var messages: [String: String] = [:]
        if let table = options?.map("messages") {
            for (key, _) in table.node.mapping ?? [:] {
                guard let type = key.string, let name = table.text(type) else { continue }
                messages[type] = name
            }
        }
        self.messages = messages
    }

    /// Whether no schema provides names.
    var isByNumber: Bool { schema == nil }

    var role: BodyRole { [.meaning, .readsNothing] }

    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {
        guard let schema = resources.schema else { return }
        for name in [message].compactMap({ $0 }) + messages.values.sorted() where schema.fullName(of: name) == nil {
            let names = schema.messageNames
            let nearest = names.min { editDistance($0, name) < editDistance($1, name) }
            throw BodyResourceError(
                "the format's message \(name) is not in the descriptor set; did you mean \(nearest ?? "another")?")
        }
        self.schema = schema
    }

    private func messageName(for type: String?) -> String? {
        guard let schema else { return nil }
        let name = type.flatMap { messages[$0] } ?? message ?? type
        return name.flatMap { schema.fullName(of: $0) }
    }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep {
        do throws(ProtobufError) {
            let json = try ProtobufDecoder.json(of: input, type: messageName(for: context.type), schema: schema)
            return .bytes(json, .protobuf)
        } catch {
            return .fault(.badBody, error.description)
        }
    }

    /// A message by number, as JSON; nil if the bytes are not a message.
    static func json(ofMessage bytes: RawSpan) -> [UInt8]? {
        do throws(ProtobufError) {
            return try ProtobufDecoder.json(of: bytes, type: nil, schema: nil)
        } catch {
            return nil
        }
    }

    func check(_ input: RawSpan, _ context: BodyContext) -> BodyCheck {
        guard schema == nil, let isMessage = ProtobufReader.isMessage(input) else { return .unknown }
        return isMessage ? .faultless : .faulty(.badBody)
    }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        switch content {
        case .bytes(let bytes): return bytes
        case .text, .fields: throw EncodingError("the body should be a Protobuf message, not text or fields")
        case .json(let json), .protobuf(let json):
            return try ProtobufEncoder.message(json.span.bytes, type: messageName(for: type), schema: schema)
        }
    }
}

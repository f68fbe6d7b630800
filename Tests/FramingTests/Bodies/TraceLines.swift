import Framing
import Streams
import Testing

/// A client's frame as the line that a trace has of it: its fields, and its body as it is shown.
func traceLine(_ bytes: [UInt8], _ format: Format) throws -> String {
    let side = format.directions.fromClient
    let shape = try #require(frame([.bytes(bytes)], with: side.rule).log.frames.first?.shape)
    #expect(shape.total == bytes.count)
    let content = bytes.span.bytes
    let decoded = side.decodeBody(of: content, shape)
    let shown = decoded.withBytes(of: content.extracting(shape.head..<shape.head + shape.body)) { $0.copied() }
    let body: (String, JSONValue) =
        switch decoded.form {
        case .text: ("text", .text(String(decoding: shown, as: UTF8.self)))
        case .json: ("json", JSONValue(compact: shown.span.bytes))
        case .protobuf: ("protobuf", JSONValue(compact: shown.span.bytes))
        case .fields: ("fields", JSONValue(compact: shown.span.bytes))
        case .opaque: ("hex", JSONValue(.bytes(shown)))
        }
    return JSONValue.members([
        ("fields", .fields(side.fields(of: content, shape))),
        ("body", .members([("length", .integer(shape.body)), body])),
    ]).compactText
}

/// The bytes of the client's frame that a line describes.
func rebuilt(_ line: String, _ format: Format) throws -> [UInt8] {
    let frame = try #require(try FrameLine(parsing: Array(line.utf8).span.bytes))
    return try format.encode(frame, from: .fromClient)
}

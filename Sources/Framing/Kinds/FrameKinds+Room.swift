import Streams

/// What most frames have is written into room for all of it: the name of their type, a head of numbers, a Protobuf message.
extension FrameKinds {
    /// How much room the type's name and the fields of a frame without secrets take.
    ///
    /// - Returns: nil if it takes more than `writeType` and `writeNumbers` to write them.
    package func roomForNumbers(_ kind: Int, _ shape: FrameShape) -> Int? {
        guard let numbers, shape.head >= numbers.length else { return nil }
        return kinds[kind].typeJSON.count + numbers.texts.room
    }

    /// Writes the name of a kind's type as a JSON string, or null.
    package func writeType(_ kind: Int, into room: inout ByteRoom) {
        let json = kinds[kind].typeJSON
        room.put(json.span.bytes)
    }

    /// Writes the fields of a frame that `roomForNumbers` has room for as a JSON object.
    package func writeNumbers(of content: RawSpan, into room: inout ByteRoom) {
        numbers?.texts.writeNumbers(content, into: &room)
    }

    /// How much room `writeMessage` needs for a body of `byteCount` bytes.
    ///
    /// - Returns: nil if no body like this is one that it writes.
    package func roomForMessage(_ kind: Int?, _ byteCount: Int) -> Int? {
        guard let kind, traits[kind].check == .protobuf, byteCount > 0 else { return nil }
        return PlainProtobuf.room(for: byteCount)
    }

    /// The parts to redact of the body of a frame of which nothing else has to be; nil if something else may have to.
    package func secretsOfBody(_ kind: Int?) -> [[String]]? {
        if hidesNothing(kind) { return [] }
        guard let kind, let secrets = kinds[kind].secrets, secrets.fields.isEmpty else { return nil }
        return secrets.body
    }

    /// Writes the body of a frame without secrets as JSON, if it is a Protobuf message that needs no decoder.
    ///
    /// - Parameter room: as much as `roomForMessage` returned.
    /// - Returns: whether it was written; if not, `room` is as it was.
    package func writeMessage(_ body: RawSpan, into room: inout ByteRoom) -> Bool {
        PlainProtobuf.write(body, into: &room)
    }
}

import Framing
import Streams

/// Writes what a frame says, as its line in a trace has it: the objects `fields` and `body`, with secrets redacted.
package enum FrameContent {
    /// Writes both objects.
    ///
    /// - Parameters:
    ///   - content: the bytes that a sink received with the frame.
    ///   - separator: written between the two.
    ///   - bodyLimit: at most how many bytes of the decoded body are written.
    ///   - triesPlain: false if it is known that the body is no message that needs no decoder.
    /// - Returns: how many bytes `fields` has.
    @inline(__always)
    package static func write(
        _ frame: TracedFrame, _ content: RawSpan, _ kinds: FrameKinds, bodyLimit: Int, separator: StaticString,
        triesPlain: Bool = true, into bytes: inout [UInt8]
    ) -> Int {
        let info = frame.info
        let start = bytes.count
        let body = content.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
        guard kinds.hidesNothing(frame.kind), !frame.isSecret, info.missing == 0 else {
            return writeRedacted(frame, content, kinds, bodyLimit, separator, into: &bytes)
        }
        kinds.writeFields(of: content, frame.shape, into: &bytes)
        let length = bytes.count - start
        if bodyLimit == 0 {
            put(separator, &bytes)
            write(body, DecodedBody(.opaque), missing: 0, streamed: info.streamed, bodyLimit, into: &bytes)
        } else if frame.body != nil || info.streamed > 0
            || !(triesPlain && message(body, kinds, frame.kind, bodyLimit, after: separator, into: &bytes))
        {
            put(separator, &bytes)
            write(
                body, frame.body ?? kinds.shownBody(frame.kind, content, frame.shape, triesPlain: false), missing: 0,
                streamed: info.streamed, bodyLimit, into: &bytes)
        }
        return length
    }

    private static func writeRedacted(
        _ frame: TracedFrame, _ content: RawSpan, _ kinds: FrameKinds, _ bodyLimit: Int, _ separator: StaticString,
        into bytes: inout [UInt8]
    ) -> Int {
        let start = bytes.count
        let body = content.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
        if let length = writeHarmless(frame, body, content, kinds, bodyLimit, separator, into: &bytes) { return length }
        let secrets = FrameSecrets(of: frame, content, kinds)
        if secrets.hidesFields {
            JSONOutput.object(secrets.shown(kinds.format.fields(of: content, frame.shape)), into: &bytes)
        } else {
            kinds.writeFields(of: content, frame.shape, into: &bytes)
        }
        let length = bytes.count - start
        put(separator, &bytes)
        let decoded = frame.decodedBody(of: content, kinds)
        write(
            body, secrets.shown(decoded, of: body), missing: frame.info.missing, streamed: frame.info.streamed,
            bodyLimit, into: &bytes)
        return length
    }

    /// Writes both objects of a frame of which only the body may have secrets, if that is a message that has none.
    ///
    /// - Returns: how many bytes `fields` has; nil if nothing was written.
    private static func writeHarmless(
        _ frame: TracedFrame, _ body: RawSpan, _ content: RawSpan, _ kinds: FrameKinds, _ bodyLimit: Int,
        _ separator: StaticString, into bytes: inout [UInt8]
    ) -> Int? {
        guard !frame.isSecret, frame.info.missing == 0, frame.info.streamed == 0, frame.body == nil, bodyLimit > 0,
            let kind = frame.kind, let secrets = kinds.kinds[kind].secrets, secrets.fields.isEmpty
        else { return nil }
        let start = bytes.count
        kinds.writeFields(of: content, frame.shape, into: &bytes)
        let length = bytes.count - start
        if message(body, kinds, kind, bodyLimit, after: separator, into: &bytes) {
            let written = bytes.span.bytes.extracting(start + length + separator.utf8CodeUnitCount..<bytes.count)
            if !DecodedBody.mayHide(secrets.body, inMessage: written) { return length }
        }
        bytes.removeLast(bytes.count - start)
        return nil
    }

    /// Writes a body that is a Protobuf message without decoding it first, and text before it; returns whether it is one that this is
    /// possible for.
    private static func message(
        _ body: RawSpan, _ kinds: FrameKinds, _ kind: Int?, _ bodyLimit: Int, after text: StaticString,
        into bytes: inout [UInt8]
    ) -> Bool {
        guard let most = kinds.roomForMessage(kind, body.byteCount) else { return false }
        let start = bytes.count
        bytes.append(upTo: text.utf8CodeUnitCount + PlainContent.roomForBody + most) { room in
            room.put(text)
            if !PlainContent.write(message: body, kinds, bodyLimit, into: &room) { room.takeBack(to: 0) }
        }
        return bytes.count > start
    }

    /// Writes a body. Truncated JSON is no longer JSON, so beyond the limit its beginning is shown as text.
    ///
    /// - Parameter streamed: how many bytes of the body are not available.
    private static func write(
        _ body: RawSpan, _ decoded: DecodedBody, missing: Int, streamed: Int, _ bodyLimit: Int,
        into bytes: inout [UInt8]
    ) {
        put("{\"length\":", &bytes)
        JSONOutput.integer(Int64(body.byteCount + streamed), into: &bytes)
        if missing > 0 {
            put(",\"missing\":", &bytes)
            JSONOutput.integer(Int64(missing), into: &bytes)
        }
        if bodyLimit > 0 { decoded.withBytes(of: body) { show($0, decoded.form, bodyLimit, into: &bytes) } }
        put("}", &bytes)
    }

    private static func show(
        _ body: RawSpan, _ form: DecodedBody.Form, _ bodyLimit: Int, into bytes: inout [UInt8]
    ) {
        let isTruncated = body.byteCount > bodyLimit
        switch form {
        case .json where !isTruncated:
            put(",\"json\":", &bytes)
            bytes.append(contentsOf: body)
        case .protobuf where !isTruncated:
            put(",\"protobuf\":", &bytes)
            bytes.append(contentsOf: body)
        case .fields where !isTruncated:
            put(",\"fields\":", &bytes)
            bytes.append(contentsOf: body)
        case .text, .json, .protobuf, .fields:
            put(",\"text\":\"", &bytes)
            let shown = isTruncated ? body.extracting(0..<body.characterBoundary(before: bodyLimit)) : body
            shown.withUnsafeBytes { JSONOutput.escaped($0.bindMemory(to: UInt8.self), into: &bytes) }
            put("\"", &bytes)
        case .opaque:
            put(",\"hex\":\"", &bytes)
            JSONOutput.hex(isTruncated ? body.extracting(0..<bodyLimit) : body, into: &bytes)
            put("\"", &bytes)
        }
        if isTruncated { put(",\"truncated\":true", &bytes) }
    }

    @inline(__always)
    private static func put(_ text: StaticString, _ bytes: inout [UInt8]) {
        text.withUTF8Buffer { bytes.append(copying: UnsafeRawBufferPointer($0)) }
    }
}

extension RawSpan {
    /// The last start of a character at or before `offset` in bytes that are valid UTF-8.
    func characterBoundary(before offset: Int) -> Int {
        guard offset < byteCount else { return byteCount }
        var at = offset
        while at > 0, self[byte: at] & 0xc0 == 0x80 { at -= 1 }
        return at
    }
}

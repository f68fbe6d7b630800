import Framing
import Streams

/// The parts of lines.
extension NDJSONWriter {
    func begin(_ event: StaticString, _ connection: Int) {
        begin(event)
        put("\",\"connection\":")
        number(connection)
    }

    func begin(_ event: StaticString) {
        put("{\"event\":\"")
        put(event)
    }

    func end() {
        output.endLine(with: UInt8(ascii: "}"))
    }

    func put(_ text: StaticString) {
        text.withUTF8Buffer { output.bytes.append(copying: UnsafeRawBufferPointer($0)) }
    }

    func string(_ text: String) {
        JSONOutput.string(text, into: &output.bytes)
    }

    /// Writes a member's name, as it is given, and its text.
    func member(_ name: StaticString, _ text: String) {
        put(name)
        string(text)
    }

    func value(_ value: JSONValue) {
        value.write(into: &output.bytes)
    }

    func number(_ value: Int) {
        JSONOutput.integer(Int64(value), into: &output.bytes)
    }

    func boolean(_ value: Bool) {
        if value { put("true") } else { put("false") }
    }

    func from(_ direction: Direction, _ leg: Leg?) {
        if direction == .fromClient { put(",\"from\":\"client\"") } else { put(",\"from\":\"server\"") }
        self.leg(leg)
    }

    func leg(_ leg: Leg?) {
        switch leg {
        case .in: put(",\"leg\":\"in\"")
        case .out: put(",\"leg\":\"out\"")
        case nil: break
        }
    }

    func time(_ time: Timestamp) {
        put(",\"time\":\"")
        timestamps.rfc3339(time, into: &output.bytes)
        put("\"")
    }

    func place(_ offset: Int, _ length: Int) {
        put(",\"offset\":")
        number(offset)
        put(",\"length\":")
        number(length)
    }

    func because(_ reason: String, _ detail: String) {
        member(",\"reason\":", reason)
        member(",\"detail\":", detail)
    }

    func totals(_ bytes: ByteCounts) {
        put(",\"framed\":")
        number(bytes.framed)
        put(",\"unframed\":")
        number(bytes.unframed)
        put(",\"padding\":")
        number(bytes.padding)
        put(",\"missing\":")
        number(bytes.missing)
    }

    func hex(_ bytes: RawSpan) {
        JSONOutput.hex(bytes, into: &output.bytes)
    }
}

import Streams

/// Writes a Protobuf message as compact JSON.
///
/// By name, if a schema has the message and the field: enumerations by their names, bytes in hex, maps as objects. Otherwise by
/// number and wire type:
///
///     {"1":150,"2":"text","3":{"1":1},"4":{"hex":"00ff"},"5":{"fixed32":1},"6":{"fixed64":1},"7":{"group":{"1":1}}}
///
/// A field that occurs several times is an array. Bytes of unknown meaning are text if they are valid UTF-8 without control
/// characters, a message if they are one to the last byte, and otherwise hex. Non-numeric member names are never those of a
/// nested message, so that the JSON has all that is needed to encode the message again.
struct ProtobufDecoder {
    private let schema: MessageSchema?
    private var reader = ProtobufReader()
    private var output: [UInt8] = []

    /// The message as JSON.
    ///
    /// - Parameter type: the message's full name in the schema; nil: by number.
    static func json(
        of bytes: RawSpan, type: String?, schema: MessageSchema?
    ) throws(ProtobufError) -> [UInt8] {
        var decoder = ProtobufDecoder(schema: schema)
        decoder.output.reserveCapacity(64 + 4 * min(bytes.byteCount, 1_024))
        try decoder.message(bytes, 0..<bytes.byteCount, type.flatMap { schema?.messages[$0] }, depth: 0)
        return decoder.output
    }

    private init(schema: MessageSchema?) {
        self.schema = schema
    }

    private mutating func message(
        _ bytes: RawSpan, _ range: Range<Int>, _ type: MessageSchema.Message?, depth: Int
    ) throws(ProtobufError) {
        guard depth < ProtobufReader.nestingLimit else {
            throw ProtobufError(description: "more than \(ProtobufReader.nestingLimit) messages in one another")
        }
        let fields = try reader.fields(of: bytes, in: range)
        if type == nil, fields.count <= 32 { return try few(fields, bytes, depth: depth) }
        var places: [UInt32: [Int]] = [:]
        var order: [UInt32] = []
        for (index, field) in fields.enumerated() {
            if places[field.number] == nil { order.append(field.number) }
            places[field.number, default: []].append(index)
        }
        output.append(UInt8(ascii: "{"))
        for (index, number) in order.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            let values = (places[number] ?? []).map { fields[$0].value }
            if let field = type?.fields[number],
                values.allSatisfy({ field.kind.fits($0, isRepeated: field.isRepeated) })
            {
                try known(values, field, bytes, depth: depth)
            } else {
                JSONOutput.string(String(number), into: &output)
                output.append(UInt8(ascii: ":"))
                try list(values, isArray: values.count > 1) { decoder, value throws(ProtobufError) in
                    try decoder.unknown(value, bytes, depth: depth)
                }
            }
        }
        output.append(UInt8(ascii: "}"))
    }

    /// Writes a few fields by number: a linear search costs less than a table.
    private mutating func few(
        _ fields: [ProtobufField], _ bytes: RawSpan, depth: Int
    ) throws(ProtobufError) {
        output.append(UInt8(ascii: "{"))
        for first in fields.indices {
            let number = fields[first].number
            if fields[..<first].contains(where: { $0.number == number }) { continue }
            if first > 0 { output.append(UInt8(ascii: ",")) }
            output.append(UInt8(ascii: "\""))
            JSONOutput.decimal(UInt64(number), into: &output)
            output.append(UInt8(ascii: "\""))
            output.append(UInt8(ascii: ":"))
            let isArray = fields[(first + 1)...].contains { $0.number == number }
            if isArray { output.append(UInt8(ascii: "[")) }
            try unknown(fields[first].value, bytes, depth: depth)
            for field in fields[(first + 1)...] where field.number == number {
                output.append(UInt8(ascii: ","))
                try unknown(field.value, bytes, depth: depth)
            }
            if isArray { output.append(UInt8(ascii: "]")) }
        }
        output.append(UInt8(ascii: "}"))
    }

    private mutating func list<Element>(
        _ elements: [Element], isArray: Bool,
        _ write: (inout ProtobufDecoder, Element) throws(ProtobufError) -> Void
    ) throws(ProtobufError) {
        if isArray { output.append(UInt8(ascii: "[")) }
        for (index, element) in elements.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            try write(&self, element)
        }
        if isArray { output.append(UInt8(ascii: "]")) }
    }

    // MARK: By name

    private mutating func known(
        _ values: [ProtobufField.Value], _ field: MessageSchema.Field, _ bytes: RawSpan, depth: Int
    ) throws(ProtobufError) {
        JSONOutput.string(field.name, into: &output)
        output.append(UInt8(ascii: ":"))
        if case .message(let name) = field.kind, let entry = schema?.messages[name], entry.isMapEntry {
            return try map(values, entry, bytes, depth: depth)
        }
        let unpacked = try unpack(values, field, bytes)
        // Of a non-repeated field that occurs several times, the last one wins.
        try list(field.isRepeated ? unpacked : unpacked.suffix(1), isArray: field.isRepeated) {
            decoder, value throws(ProtobufError) in
            try decoder.known(value, field.kind, bytes, depth: depth)
        }
    }

    private mutating func known(
        _ value: ProtobufField.Value, _ kind: MessageSchema.Kind, _ bytes: RawSpan, depth: Int
    ) throws(ProtobufError) {
        switch (kind, value) {
        case (.message(let name), .bytes(let range)), (.group(let name), .group(let range)):
            try message(bytes, range, schema?.messages[name], depth: depth + 1)
        case (.string, .bytes(let range)):
            let text = bytes.extracting(range)
            if text.firstInvalidUTF8() == nil { string(text) } else { hex(text) }
        case (.bytes, .bytes(let range)): hex(bytes.extracting(range))
        case (.enumeration(let name), .varint(let number)):
            let value = Int32(truncatingIfNeeded: number)
            if let name = schema?.enumerations[name]?[value] {
                JSONOutput.string(name, into: &output)
            } else {
                JSONOutput.integer(Int64(value), into: &output)
            }
        default: JSONOutput.value(kind.scalar(value), into: &output)
        }
    }

    /// Unpacks numbers that are packed in one field.
    private mutating func unpack(
        _ values: [ProtobufField.Value], _ field: MessageSchema.Field, _ bytes: RawSpan
    ) throws(ProtobufError) -> [ProtobufField.Value] {
        guard field.isRepeated, field.kind.packs else { return values }
        var unpacked: [ProtobufField.Value] = []
        for value in values {
            guard case .bytes(let range) = value else {
                unpacked.append(value)
                continue
            }
            var at = range.lowerBound
            while at < range.upperBound {
                // Each takes as little as a byte, and is held as a value.
                guard unpacked.count < ProtobufReader.fieldLimit else {
                    throw ProtobufError(description: "more than \(ProtobufReader.fieldLimit) packed values")
                }
                switch field.kind.wireType {
                case 1: unpacked.append(.fixed64(try ProtobufReader.fixed(8, bytes, &at, range.upperBound)))
                case 5:
                    let number = try ProtobufReader.fixed(4, bytes, &at, range.upperBound)
                    unpacked.append(.fixed32(UInt32(truncatingIfNeeded: number)))
                default: unpacked.append(.varint(try ProtobufReader.varint(bytes, &at, range.upperBound)))
                }
            }
        }
        return unpacked
    }

    private mutating func map(
        _ values: [ProtobufField.Value], _ entry: MessageSchema.Message, _ bytes: RawSpan, depth: Int
    ) throws(ProtobufError) {
        guard let keyField = entry.fields[1], let valueField = entry.fields[2] else {
            throw ProtobufError(description: "a map without key and value in the descriptor set")
        }
        output.append(UInt8(ascii: "{"))
        var isFirst = true
        for case .bytes(let range) in values {
            let fields = try reader.fields(of: bytes, in: range)
            let key = fields.last { $0.number == 1 && keyField.kind.fits($0.value, isRepeated: false) }?.value
            let value = fields.last { $0.number == 2 && valueField.kind.fits($0.value, isRepeated: false) }?.value
            if !isFirst { output.append(UInt8(ascii: ",")) }
            isFirst = false
            let start = output.count
            // An omitted value is the type's default.
            try known(key ?? keyField.kind.zero, keyField.kind, bytes, depth: depth + 1)
            if output[start] != UInt8(ascii: "\"") {
                output.insert(UInt8(ascii: "\""), at: start)
                output.append(UInt8(ascii: "\""))
            }
            output.append(UInt8(ascii: ":"))
            if value == nil, case .message = valueField.kind {
                output += Array("{}".utf8)
            } else {
                try known(value ?? valueField.kind.zero, valueField.kind, bytes, depth: depth + 1)
            }
        }
        output.append(UInt8(ascii: "}"))
    }

    // MARK: By number

    private mutating func unknown(
        _ value: ProtobufField.Value, _ bytes: RawSpan, depth: Int
    ) throws(ProtobufError) {
        switch value {
        case .varint(let number): JSONOutput.decimal(number, into: &output)
        case .fixed32(let number): labelled("fixed32") { JSONOutput.decimal(UInt64(number), into: &$0.output) }
        case .fixed64(let number): labelled("fixed64") { JSONOutput.decimal(number, into: &$0.output) }
        case .group(let range):
            output += Array("{\"group\":".utf8)
            try message(bytes, range, nil, depth: depth + 1)
            output.append(UInt8(ascii: "}"))
        case .bytes(let range):
            let inner = bytes.extracting(range)
            if inner.plainness != .none {
                string(inner)
            } else if !guess(bytes, range, depth: depth) {
                if inner.isPrintable { string(inner) } else { labelled("hex") { $0.hex(inner) } }
            }
        }
    }

    /// Writes bytes as a message, if they are one.
    private mutating func guess(_ bytes: RawSpan, _ range: Range<Int>, depth: Int) -> Bool {
        let start = output.count
        do throws(ProtobufError) {
            try message(bytes, range, nil, depth: depth + 1)
            return true
        } catch {
            output.removeLast(output.count - start)
            return false
        }
    }

    private mutating func labelled(_ label: StaticString, _ write: (inout ProtobufDecoder) -> Void) {
        output += Array("{\"".utf8)
        label.withUTF8Buffer { output.append(contentsOf: $0) }
        output += Array("\":".utf8)
        write(&self)
        output.append(UInt8(ascii: "}"))
    }

    private mutating func string(_ text: RawSpan) {
        output.append(UInt8(ascii: "\""))
        text.withUnsafeBytes { JSONOutput.escaped($0.bindMemory(to: UInt8.self), into: &output) }
        output.append(UInt8(ascii: "\""))
    }

    private mutating func hex(_ bytes: RawSpan) {
        output.append(UInt8(ascii: "\""))
        JSONOutput.hex(bytes, into: &output)
        output.append(UInt8(ascii: "\""))
    }
}

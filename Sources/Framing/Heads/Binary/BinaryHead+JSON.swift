import Streams

/// What to write for the fields of a binary head: the parts that are the same for every frame.
struct FieldTexts: Sendable {
    /// A field of the head. It has no reference, so that none is counted for each field of each frame.
    struct Field: Sendable {
        /// Where its name is in `keys`, with quotes, colon and the separator from the previous one.
        var key: Range<Int>
        var value: Value
    }

    enum Value: Sendable {
        /// An unsigned number of at most seven bytes at a fixed place.
        case number(offset: Int, width: Int, order: ByteOrder)
        /// Anything else.
        case other(index: Int)
    }

    private(set) var fields: [Field] = []
    private(set) var keys: [UInt8] = []

    init(_ fields: [HeaderField], offsets: [Int]) {
        for (index, field) in fields.enumerated() {
            let start = keys.count
            keys.append(UInt8(ascii: index == 0 ? "{" : ","))
            JSONOutput.string(field.name, into: &keys)
            keys.append(UInt8(ascii: ":"))
            var value = Value.other(index: index)
            if index < offsets.count, field.bits.isEmpty, case .unsigned(let width) = field.kind, width < 8 {
                value = .number(offset: offsets[index], width: width, order: field.order)
            }
            self.fields.append(Field(key: start..<keys.count, value: value))
        }
    }

    /// Whether all fields are numbers at fixed places.
    var areNumbers: Bool {
        fields.allSatisfy { if case .number = $0.value { true } else { false } }
    }

    /// Writes the object of a head's fields.
    ///
    /// - Parameter writeOther: writes the value of a field that is not a number at a fixed place.
    @inline(__always)
    func write(_ head: RawSpan, into bytes: inout [UInt8], _ writeOther: (_ index: Int, inout [UInt8]) -> Void) {
        keys.span.bytes.withUnsafeBytes { keys in
            for field in fields {
                let key = UnsafeRawBufferPointer(rebasing: keys[field.key])
                switch field.value {
                case .number(let offset, let width, let order):
                    JSONOutput.decimal(head.unsigned(at: offset, width: width, order), after: key, into: &bytes)
                case .other(let index):
                    bytes.append(copying: key)
                    writeOther(index, &bytes)
                }
            }
        }
        bytes.append(UInt8(ascii: "}"))
    }
}

extension BinaryHead {
    package func writeFields(of head: RawSpan, into bytes: inout [UInt8]) {
        guard let fixedLength, head.byteCount >= fixedLength, !texts.fields.isEmpty else {
            return JSONOutput.object(fields(of: head), into: &bytes)
        }
        texts.write(head, into: &bytes) { writeValue($0, of: head, into: &$1) }
    }

    /// Writes a field's value, and its named bits behind it.
    private func writeValue(_ index: Int, of head: RawSpan, into bytes: inout [UInt8]) {
        guard let value = value(index, in: head) else { return }
        JSONOutput.value(value, into: &bytes)
        guard case .integer(let number) = value else { return }
        for bits in fields[index].bits {
            bytes.append(UInt8(ascii: ","))
            JSONOutput.string(bits.name, into: &bytes)
            bytes.append(UInt8(ascii: ":"))
            JSONOutput.integer(bits.value(in: number), into: &bytes)
        }
    }
}

import Streams

/// What to write for a field of a binary head: the part that is the same for every frame.
struct FieldText: Sendable {
    enum Value: Sendable {
        /// An unsigned number of at most seven bytes at a fixed place.
        case number(offset: Int, width: Int, order: ByteOrder)
        /// Anything else.
        case other(index: Int)
    }

    /// The field's name, with quotes, colon and separator from the previous one.
    var key: [UInt8]
    var value: Value

    init(_ field: HeaderField, _ index: Int, offset: Int?) {
        key = [UInt8(ascii: index == 0 ? "{" : ",")]
        JSONOutput.string(field.name, into: &key)
        key.append(UInt8(ascii: ":"))
        if let offset, field.bits.isEmpty, case .unsigned(let width) = field.kind, width < 8 {
            value = .number(offset: offset, width: width, order: field.order)
        } else {
            value = .other(index: index)
        }
    }
}

extension BinaryHead {
    package func writeFields(of head: RawSpan, into bytes: inout [UInt8]) {
        guard let fixedLength, head.byteCount >= fixedLength, !texts.isEmpty else {
            return JSONOutput.object(fields(of: head), into: &bytes)
        }
        for text in texts {
            bytes.append(contentsOf: text.key.span.bytes)
            switch text.value {
            case .number(let offset, let width, let order):
                JSONOutput.decimal(head.unsigned(at: offset, width: width, order), into: &bytes)
            case .other(let index):
                guard let value = value(index, in: head) else { continue }
                JSONOutput.value(value, into: &bytes)
                guard case .integer(let number) = value else { continue }
                for bits in fields[index].bits {
                    bytes.append(UInt8(ascii: ","))
                    JSONOutput.string(bits.name, into: &bytes)
                    bytes.append(UInt8(ascii: ":"))
                    JSONOutput.integer(bits.value(in: number), into: &bytes)
                }
            }
        }
        bytes.append(UInt8(ascii: "}"))
    }
}

import Streams

/// What to write for the fields of a binary head: the parts that are the same for every frame.
struct FieldTexts: Sendable {
    /// A field of the head. It has no reference, so that none is counted for each field of each frame.
    struct Field: Sendable {
        /// Where its name is in `keys`, with quotes, colon and the separator from the previous one.
        var key: Range<Int>
        /// If it is an unsigned number of at most seven bytes at a fixed place: where. If not, `width` is 0.
        var (offset, width): (Int, Int)
        var order: ByteOrder

        /// Whether it is such a number.
        var isNumber: Bool { width > 0 }
    }

    private(set) var fields: [Field] = []
    /// All names, and bytes after them, so that each can be copied as `ByteRoom.wide` bytes.
    private(set) var keys: [UInt8] = []

    init(_ fields: [HeaderField], offsets: [Int]) {
        for (index, field) in fields.enumerated() {
            let start = keys.count
            keys.append(UInt8(ascii: index == 0 ? "{" : ","))
            JSONOutput.string(field.name, into: &keys)
            keys.append(UInt8(ascii: ":"))
            var text = Field(key: start..<keys.count, offset: 0, width: 0, order: field.order)
            if index < offsets.count, field.bits.isEmpty, case .unsigned(let width) = field.kind, width < 8 {
                (text.offset, text.width) = (offsets[index], width)
            }
            self.fields.append(text)
        }
        keys.append(contentsOf: repeatElement(0, count: ByteRoom.wide))
    }

    /// Whether all fields are numbers at fixed places.
    var areNumbers: Bool { fields.allSatisfy(\.isNumber) }

    /// How much room the object of a head's fields takes, if all are numbers at fixed places.
    var room: Int { keys.count + fields.count * JSONOutput.longestNumber + 1 }

    /// Writes the object of a head's fields, if all are numbers at fixed places.
    ///
    /// - Parameter room: that of `room`.
    func writeNumbers(_ head: RawSpan, into room: inout ByteRoom) {
        let keys = keys.span.bytes
        for field in fields {
            if field.key.count <= ByteRoom.wide {
                room.put(first: field.key.count, ofWide: keys, at: field.key.lowerBound)
            } else {
                room.put(keys.extracting(field.key))
            }
            JSONOutput.decimal(head.unsigned(at: field.offset, width: field.width, field.order), into: &room)
        }
        room.put("}")
    }

    /// Writes the object of a head's fields.
    ///
    /// - Parameter writeOther: writes the value of a field that is not a number at a fixed place.
    func write(_ head: RawSpan, into bytes: inout [UInt8], _ writeOther: (_ index: Int, inout [UInt8]) -> Void) {
        keys.span.bytes.withUnsafeBytes { keys in
            for (index, field) in fields.enumerated() {
                let key = UnsafeRawBufferPointer(rebasing: keys[field.key])
                if field.isNumber {
                    let value = head.unsigned(at: field.offset, width: field.width, field.order)
                    JSONOutput.decimal(value, after: key, into: &bytes)
                } else {
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

    /// Writes a field's value, and its named bits after it.
    private func writeValue(_ index: Int, of head: RawSpan, into bytes: inout [UInt8]) {
        guard let value = value(index, in: head) else { return }
        JSONOutput.value(value, into: &bytes)
        guard let number = value.bitPattern else { return }
        for bits in fields[index].bits {
            bytes.append(UInt8(ascii: ","))
            JSONOutput.string(bits.name, into: &bytes)
            bytes.append(UInt8(ascii: ":"))
            JSONOutput.integer(bits.value(in: number), into: &bytes)
        }
    }
}

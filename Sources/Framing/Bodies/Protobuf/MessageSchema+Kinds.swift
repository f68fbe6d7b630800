extension MessageSchema.Kind {
    /// The wire type of a value that is not packed.
    var wireType: UInt8 {
        switch self {
        case .int32, .int64, .uint32, .uint64, .sint32, .sint64, .bool, .enumeration: 0
        case .fixed64, .sfixed64, .double: 1
        case .string, .bytes, .message: 2
        case .group: 3
        case .fixed32, .sfixed32, .float: 5
        }
    }

    /// Whether several values may be packed in one field.
    var packs: Bool { wireType != 2 && wireType != 3 }

    /// Whether a value from the wire can be of this kind.
    func fits(_ value: ProtobufField.Value, isRepeated: Bool) -> Bool {
        switch value {
        case .varint: wireType == 0
        case .fixed64: wireType == 1
        case .bytes: wireType == 2 || (isRepeated && packs)
        case .group: wireType == 3
        case .fixed32: wireType == 5
        }
    }

    /// The default of an omitted value.
    var zero: ProtobufField.Value {
        switch wireType {
        case 0: .varint(0)
        case 1: .fixed64(0)
        case 5: .fixed32(0)
        default: .bytes(0..<0)
        }
    }

    /// The value of a number.
    func scalar(_ value: ProtobufField.Value) -> FieldValue {
        switch value {
        case .varint(let bits):
            switch self {
            case .bool: return .boolean(bits != 0)
            case .int32: return .integer(Int64(Int32(truncatingIfNeeded: bits)))
            case .uint32: return .integer(Int64(UInt32(truncatingIfNeeded: bits)))
            case .uint64: return .unsigned(bits)
            case .sint32:
                let bits = UInt32(truncatingIfNeeded: bits)
                return .integer(Int64(Int32(bitPattern: bits >> 1) ^ -Int32(bitPattern: bits & 1)))
            case .sint64: return .integer(Int64(bitPattern: bits >> 1) ^ -Int64(bitPattern: bits & 1))
            default: return .integer(Int64(bitPattern: bits))
            }
        case .fixed64(let bits):
            switch self {
            case .double: return number(Double(bitPattern: bits))
            case .sfixed64: return .integer(Int64(bitPattern: bits))
            default: return .unsigned(bits)
            }
        case .fixed32(let bits):
            switch self {
            case .float:
                let value = Float(bitPattern: bits)
                // The shortest digits that represent this float, not those of the nearest double.
                return value.isFinite ? .json(String(value)) : number(Double(value))
            case .sfixed32: return .integer(Int64(Int32(bitPattern: bits)))
            default: return .integer(Int64(bits))
            }
        case .bytes, .group: return .null
        }
    }

    /// JSON has no infinities; their names are those of Protobuf's own JSON.
    private func number(_ value: Double) -> FieldValue {
        if value.isFinite { return .number(value) }
        return .text(value.isNaN ? "NaN" : value < 0 ? "-Infinity" : "Infinity")
    }
}

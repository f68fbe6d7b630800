import Streams

/// A header of binary fields, one after the other; also a trailer.
package final class BinaryHead: Head {
    package let fields: [HeaderField]
    /// Where each field starts, as far as that does not depend on preceding values.
    package let fixedOffsets: [Int]
    /// How long the header is; nil if that depends on its values.
    package let fixedLength: Int?
    /// The required bytes of each field that has a constant, and the fault if they differ.
    private let constants: [Constant?]
    /// What traces write for the fields.
    let texts: FieldTexts
    /// What a search evaluates of each field.
    let weights: [FieldWeight]
    /// The numbers that have names, by field or bits; and the bits that have some, by field.
    let namedNumbers: [UInt64]
    let namedBits: [BitsWeight]
    /// The numbers at fixed places of which some values have names.
    let namePlaces: [NamePlace]
    /// The fields: one that is copied has many references to count.
    private let shared: [SharedField]

    /// The fields that have constant bits, some allowed values, or digits.
    private let restricted: [Int]
    /// The constants byte by byte, as far as their places do not depend on preceding values.
    private let constantBytes: [(offset: Int, byte: UInt8)]
    /// Whether the length is fixed, and only the constants decide if a header is valid. Digits are checked only beside constants.
    private let isPlain: Bool
    /// The constants of such a header, if all are among its first eight bytes.
    let plainConstants: PlainConstants?
    /// The names of the fields: a field that is copied has many references to count.
    private let fieldNames: [String]

    private final class SharedField: Sendable {
        let field: HeaderField

        init(_ field: HeaderField) { self.field = field }
    }

    private struct Constant: Sendable {
        var bytes: [UInt8]
        var mismatch: String
    }

    package init(_ fields: [HeaderField]) {
        self.fields = fields
        var offsets: [Int] = []
        var offset: Int? = 0
        for field in fields {
            if let known = offset { offsets.append(known) }
            offset = offset.flatMap { known in field.fixedSize.map { known + $0 } }
        }
        fixedOffsets = offsets
        fixedLength = offset
        texts = FieldTexts(fields, offsets: offsets)
        var (numbers, bits): ([UInt64], [BitsWeight]) = ([], [])
        let weights = fields.map { FieldWeight($0, &numbers, &bits) }
        self.weights = weights
        (namedNumbers, namedBits) = (numbers, bits)
        namePlaces = offsets.indices.compactMap { NamePlace(weights[$0], field: $0, offset: offsets[$0]) }
        shared = fields.map { SharedField($0) }
        constants = fields.map { field in
            guard let constant = field.constant, let bytes = try? Self.encode(constant, as: field) else { return nil }
            return Constant(
                bytes: bytes, mismatch: "\(field.name) is not \(field.constantText ?? constant.shortDescription)")
        }
        constantBytes = zip(constants, offsets).flatMap { constant, offset in
            (constant?.bytes ?? []).enumerated().map { (offset + $0, $1) }
        }
        restricted = fields.indices.filter { fields[$0].isRestricted }
        fieldNames = fields.map(\.name)
        hasNames = fields.contains { !$0.names.isEmpty || $0.bits.contains { !$0.names.isEmpty } }
        hasConstants =
            constants.contains { $0 != nil } || fields.contains(where: \.hasRestriction)
        isPlain = offset != nil && (restricted.isEmpty || !hasConstants)
        plainConstants = isPlain ? PlainConstants(constantBytes) : nil
    }

    package var names: [String]? { fields.flatMap { [$0.name] + $0.bits.map(\.name) } }

    /// Whether a field, or some bits of one, must have one particular value.
    package let hasConstants: Bool
    /// Whether values of some fields have names.
    let hasNames: Bool

    /// The result of scanning a header.
    package enum Scan: Sendable {
        /// A header of this many bytes.
        case complete(length: Int)
        /// At least this many bytes are needed to decide.
        case incomplete(atLeast: Int)
        /// Not this header: a field has an impossible value.
        case bad(String)
    }

    /// Scans the header at `start`: its constants as far as bytes are available, then its end.
    package func scan(_ bytes: RawSpan, at start: Int) -> Scan {
        if isPlain, let fixedLength {
            if bytes.byteCount - start >= fixedLength {
                let isRight = plainConstants?.match(bytes, at: start) ?? mayHaveItsConstants(bytes, at: start)
                if isRight { return .complete(length: fixedLength) }
            } else if !hasConstants {
                return .incomplete(atLeast: fixedLength)
            }
        }
        var at = start
        for index in weights.indices {
            let size: Int?
            do throws(HeaderField.Fault) {
                size = try self.size(of: index, in: bytes, at: at)
            } catch {
                return .bad(error.message)
            }
            guard let size else { return .incomplete(atLeast: bytes.byteCount - start + 1) }
            // The first differing byte of a constant is enough, whether or not the others are available.
            if let constant = constants[index] {
                let available = max(0, min(size, bytes.byteCount - at))
                for offset in 0..<available where bytes[byte: at + offset] != constant.bytes[offset] {
                    return .bad(constant.mismatch)
                }
            }
            guard at + size <= bytes.byteCount else {
                return .incomplete(atLeast: fixedLength ?? (at + size - start))
            }
            if weights[index].isRestricted,
                let mismatch = mismatch(of: shared[index].field, in: bytes, at: at, size: size)
            {
                return .bad(mismatch)
            }
            at += size
        }
        return .complete(length: at - start)
    }

    /// The first byte of the first field, if that is a constant.
    var constantStart: UInt8? { constants.first.flatMap { $0?.bytes.first } }

    /// The bytes of the last field, if it is a constant.
    var constantEnd: [UInt8]? { constants.last.flatMap { $0?.bytes } }

    /// The bytes that may come second.
    var secondBytes: ByteSet {
        guard let second = constantBytes.first(where: { $0.offset == 1 }) else { return .all }
        return ByteSet { $0 == second.byte }
    }

    /// Whether the constants of a header of fixed length are correct, as far as bytes are available; bits are not checked.
    func mayHaveItsConstants(_ bytes: RawSpan, at start: Int) -> Bool {
        let available = bytes.byteCount - start
        for constant in constantBytes where constant.offset < available {
            if bytes[byte: start + constant.offset] != constant.byte { return false }
        }
        return true
    }

    /// Whether a header of fixed length, which starts with the bytes, is complete according to `scan`, which builds text otherwise.
    func hasItsConstants(_ bytes: RawSpan) -> Bool {
        guard mayHaveItsConstants(bytes, at: 0) else { return false }
        for index in restricted {
            let start = fixedOffsets[index]
            guard let size = (try? size(of: index, in: bytes, at: start)) ?? nil,
                shared[index].field.allows(value(of: index, in: bytes, at: start..<start + size))
            else { return false }
        }
        return true
    }

    /// The fault of a value that is not allowed, or of bits that differ from their constants; nil if all match.
    private func mismatch(of field: HeaderField, in bytes: RawSpan, at start: Int, size: Int) -> String? {
        let value = field.value(in: bytes, at: start, size: size)
        return field.restriction(value).map { field.message($0, value) }
    }

    /// The range of a field in a whole header at the start of the bytes; nil if it cannot be read.
    package func place(of index: Int, in bytes: RawSpan, from start: Int = 0) -> Range<Int>? {
        if index < fixedOffsets.count, let size = weights[index].size {
            let at = start + fixedOffsets[index]
            return at + size <= bytes.byteCount ? at..<at + size : nil
        }
        var at = start
        for other in weights.indices {
            guard let size = (try? size(of: other, in: bytes, at: at)) ?? nil, at + size <= bytes.byteCount else {
                return nil
            }
            if other == index { return at..<at + size }
            at += size
        }
        return nil
    }

    /// The value of a field by its index; nil if it cannot be read.
    package func value(_ index: Int, in bytes: RawSpan, from start: Int = 0) -> FieldValue? {
        place(of: index, in: bytes, from: start).map { value(of: index, in: bytes, at: $0) }
    }

    /// The value of a field whose place is known.
    func value(of index: Int, in bytes: RawSpan, at place: Range<Int>) -> FieldValue {
        // Most fields are unsigned numbers: for these, nothing that has references is asked.
        if let order = weights[index].order {
            return FieldValue(bytes.unsigned(at: place.lowerBound, width: place.count, order))
        }
        return shared[index].field.value(in: bytes, at: place.lowerBound, size: place.count)
    }

    /// How many bytes a field takes at an index; nil if more are needed to determine that.
    func size(of index: Int, in bytes: RawSpan, at start: Int) throws(HeaderField.Fault) -> Int? {
        if let known = weights[index].scannedSize { return known }
        return try shared[index].field.size(in: bytes, at: start)
    }

    /// The fields in the header's order, named bits after their field.
    package func fields(of head: RawSpan) -> [Field] {
        var list: [Field] = []
        for (index, field) in fields.enumerated() {
            guard let value = value(index, in: head) else { return list }
            list.append(Field(field.name, value))
            guard let number = value.bitPattern else { continue }
            for bits in field.bits {
                list.append(Field(bits.name, .integer(bits.value(in: number))))
            }
        }
        return list
    }

    package func field(_ name: String, of head: RawSpan) -> FieldValue? {
        for index in fieldNames.indices where fieldNames[index] == name { return value(index, in: head) }
        return fields(of: head).first { $0.name == name }?.value
    }

    /// A field's value for display: in hex if the format writes its constant in hex, otherwise as it is.
    package func shown(_ name: String, _ value: FieldValue) -> String? {
        guard case .integer(let number) = value, number >= 0,
            let field = fields.first(where: { $0.name == name }), field.constantText != nil
        else { return nil }
        let digits = String(number, radix: 16)
        return "0x" + String(repeating: "0", count: max(0, 2 * (field.fixedSize ?? 0) - digits.utf8.count)) + digits
    }

    /// The name of a field's value, if the format has one.
    package func valueName(of name: String, _ value: FieldValue) -> String? {
        if let field = fields.first(where: { $0.name == name }) { return field.names[value] }
        return fields.lazy.compactMap { $0.bits.first { $0.name == name } }.first?.names[value]
    }
}

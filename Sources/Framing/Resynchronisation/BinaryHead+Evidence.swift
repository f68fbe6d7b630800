import Streams

extension BinaryHead {
    /// The evidence for a header that starts at `start`.
    ///
    /// - Parameters:
    ///   - lengthField: the field with the frame's length, if there is one.
    ///   - previous: where the preceding header starts, if it has the same layout.
    func evidence(
        in bytes: RawSpan, at start: Int, lengthField: Int?, previous: Int?, _ background: ByteBackground
    ) -> Evidence {
        var evidence = Evidence()
        var at = start
        for (index, weight) in weights.enumerated() {
            guard let size = weight.size ?? (try? size(of: index, in: bytes, at: at)) ?? nil,
                at + size <= bytes.byteCount
            else { break }
            let place = at..<at + size
            at += size
            evidence.constants += weight.constantBits
            switch weight.kind {
            case .constant: for at in place { evidence.constants += background.bits(bytes[byte: at]) }
            case .digits(let ends):
                // Each digit is one of ten values.
                evidence.constants += Double(size - ends) * (background.bits(UInt8(ascii: "0")) - 3.3)
                for at in place.suffix(ends) { evidence.constants += background.bits(bytes[byte: at]) }
            case .number, .text:
                if index == lengthField {
                    evidence.lengths += lengthEvidence(index, weight, in: bytes, place, background)
                } else if size <= FieldWeight.longestValue {
                    var before: Range<Int>?
                    if let previous, index < fixedOffsets.count {
                        before = previous + fixedOffsets[index]..<previous + fixedOffsets[index] + size
                    }
                    evidence.values += valueEvidence(index, weight, in: bytes, place, before: before, background)
                }
            }
        }
        return evidence
    }

    /// An upper bound of the evidence of a header of fixed size that follows no other, if its length is 0: what a longer one costs is to
    /// be subtracted. Infinite if a length costs nothing.
    func mostEvidence(lengthField: Int) -> Double {
        weights.indices.reduce(0) { sum, index in
            let weight = weights[index]
            let bits = 8 * Double(weight.size ?? 0)
            switch weight.kind {
            case .constant, .digits: return index == lengthField ? .infinity : sum + bits
            case .number, .text:
                if index == lengthField {
                    // Constant bits are not part of the length.
                    return weight.hasConstantBits ? .infinity : sum + bits + Evidence.length(0, width: Int(bits))
                }
                return sum + weight.constantBits + mostEvidence(of: index, weight, bits)
            }
        }
    }

    /// How much less evidence than `mostEvidence` a header has, at least: for numbers without names where the format names some.
    ///
    /// - Parameter lengthField: the field with the frame's length, whose names are no evidence.
    func lackOfNames(in bytes: RawSpan, at start: Int, lengthField: Int) -> Double {
        var lack = 0.0
        for place in namePlaces
        where place.field != lengthField && !isNamed(place.number.value(in: bytes, at: start), place.named) {
            lack += place.lack
        }
        return lack
    }

    /// The most evidence of values that have names.
    private func mostEvidence(of index: Int, _ weight: FieldWeight, _ bits: Double) -> Double {
        guard weight.hasNames else { return 0 }
        let names = fields[index].names.count
        let value = names > 0 ? max(0, Evidence.named(true, of: names, bits: bits)) : 0
        return fields[index].bits.reduce(value) { sum, part in
            let own = part.names.isEmpty ? 0 : Evidence.named(true, of: part.names.count, bits: Double(part.count))
            return sum + max(0, own)
        }
    }

    private func lengthEvidence(
        _ index: Int, _ weight: FieldWeight, in bytes: RawSpan, _ place: Range<Int>, _ background: ByteBackground
    ) -> Double {
        if let order = weight.plainOrder {
            var bits = 0.0
            for at in place { bits += background.numberBits(bytes[byte: at]) }
            let number = bytes.unsigned(at: place.lowerBound, width: place.count, order)
            return bits + Evidence.length(number, width: 8 * place.count)
        }
        var number: UInt64
        switch value(of: index, in: bytes, at: place) {
        case .integer(let value) where value >= 0: number = UInt64(value)
        case .unsigned(let value): number = value
        default: return 0
        }
        var bits = 0.0
        for at in place { bits += background.numberBits(bytes[byte: at]) }
        if weight.isVarint {
            // Half of all lengths take one byte, a quarter two, and so on.
            return bits - Double(place.count) + Evidence.length(number, width: 7)
        }
        // Constant bits were already counted, and are not part of the length.
        var width = 8 * place.count
        for part in fields[index].bits where part.constant != nil && part.count < 64 {
            number &= ~((UInt64(1) << UInt64(part.count) - 1) << UInt64(part.lowest))
            width -= part.count
            bits -= Double(part.count)
        }
        return bits + Evidence.length(number, width: max(width, 1))
    }

    /// The evidence of a value that the format names, or that repeats the preceding header's.
    private func valueEvidence(
        _ index: Int, _ weight: FieldWeight, in bytes: RawSpan, _ place: Range<Int>, before: Range<Int>?,
        _ background: ByteBackground
    ) -> Double {
        guard weight.hasNames || before != nil && !weight.hasConstantBits else { return 0 }
        var bits = 0.0
        for at in place {
            bits += weight.kind == .text ? background.bits(bytes[byte: at]) : background.numberBits(bytes[byte: at])
        }
        var named: Double?
        if weight.hasNames { named = namesEvidence(index, weight, in: bytes, place, bits) }
        var repeated: Double?
        if let before, !weight.hasConstantBits {
            let isSame = bytes.extracting(before).elementsEqual(bytes.extracting(place))
            repeated = isSame ? bits - 1 : -1
        }
        switch (named, repeated) {
        case (let named?, let repeated?): return Evidence.either(named, repeated)
        default: return named ?? repeated ?? 0
        }
    }

    private func namesEvidence(
        _ index: Int, _ weight: FieldWeight, in bytes: RawSpan, _ place: Range<Int>, _ bits: Double
    ) -> Double? {
        if let order = weight.order {
            let number = bytes.unsigned(at: place.lowerBound, width: place.count, order)
            var named: Double?
            if weight.names > 0 { named = Evidence.named(isNamed(number, weight.named), of: weight.names, bits: bits) }
            guard number <= UInt64(Int64.max) else { return named }
            for part in weight.bits {
                let part = namedBits[part]
                let evidence = Evidence.named(
                    isNamed(part.value(in: number), part.named), of: part.names, bits: min(Double(part.count), bits))
                named = (named ?? 0) + evidence
            }
            return named
        }
        let field = fields[index]
        let value = field.value(in: bytes, at: place.lowerBound, size: place.count)
        var named: Double?
        if !field.names.isEmpty {
            named = Evidence.named(field.names[value] != nil, of: field.names.count, bits: bits)
        }
        guard case .integer(let number) = value else { return named }
        for part in field.bits where !part.names.isEmpty && part.constant == nil {
            let isNamed = part.names[.integer(part.value(in: number))] != nil
            named =
                (named ?? 0)
                + Evidence.named(isNamed, of: part.names.count, bits: min(Double(part.count), bits))
        }
        return named
    }

    /// Whether a number is one of those that have names.
    private func isNamed(_ number: UInt64, _ range: Range<Int>) -> Bool {
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if namedNumbers[middle] < number { low = middle + 1 } else { high = middle }
        }
        return low < range.upperBound && namedNumbers[low] == number
    }

    /// The bytes that the header may start with, as far as its first field determines.
    var firstBytes: ByteSet {
        guard let first = fields.first else { return .all }
        if first.constant != nil, let byte = constantStart { return ByteSet { $0 == byte } }
        if case .decimal = first.kind {
            return ByteSet { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-") }
        }
        guard first.hasConstantBits, case .unsigned(let width) = first.kind else { return .all }
        let lowest = first.order == .big ? 8 * (width - 1) : 0
        let ours = first.bits.filter { $0.constant != nil && $0.lowest >= lowest && $0.lowest + $0.count <= lowest + 8 }
        return ByteSet { byte in ours.allSatisfy { $0.value(in: Int64(byte) << Int64(lowest)) == $0.constant } }
    }

    /// Whether the bytes at a place are all the same: a header in a run of zeros, or of spaces, is no evidence.
    static func isRun(_ bytes: RawSpan, _ place: Range<Int>) -> Bool {
        guard place.count > 1 else { return false }
        let first = bytes[byte: place.lowerBound]
        for at in place where bytes[byte: at] != first { return false }
        return true
    }
}

/// What a search evaluates of a field in every head, without anything that is reference-counted.
struct FieldWeight: Sendable {
    /// The longest value that counts as evidence, in bytes.
    static let longestValue = 4

    enum Kind: Hashable {
        case constant
        /// Decimal digits, and how many bytes end them.
        case digits(ends: Int)
        case number
        case text
    }

    let kind: Kind
    /// How many bytes the field takes; nil if that depends on its value.
    let size: Int?
    /// The same; nil for numerals, too, whose bytes are checked first.
    let scannedSize: Int?
    /// Whether some values, or bits, are not allowed.
    let isRestricted: Bool
    /// The evidence of constant bits.
    let constantBits: Double
    let hasConstantBits: Bool
    /// Whether values, or those of non-constant bits, have names.
    let hasNames: Bool
    /// How many values have names.
    let names: Int
    /// Where those of an unsigned number are in `BinaryHead.namedNumbers`, and its bits that have names in `BinaryHead.namedBits`.
    let named: Range<Int>
    let bits: Range<Int>
    /// The byte order of an unsigned number, and of one without bits; nil for other fields.
    let order: ByteOrder?
    let plainOrder: ByteOrder?
    let isVarint: Bool

    /// - Parameters:
    ///   - numbers: receives the numbers that have names.
    ///   - named: receives the bits that have some.
    init(_ field: HeaderField, _ numbers: inout [UInt64], _ named: inout [BitsWeight]) {
        size = field.fixedSize
        if case .numeral = field.kind { scannedSize = nil } else { scannedSize = size }
        isRestricted = field.hasRestriction
        if case .unsigned = field.kind { order = field.order } else { order = nil }
        plainOrder = field.bits.isEmpty ? order : nil
        if case .varint = field.kind { isVarint = true } else { isVarint = false }
        names = field.names.count
        self.named = numbers.addNamed(order == nil ? [:] : field.names)
        let first = named.count
        for part in field.bits where order != nil && !part.names.isEmpty && part.constant == nil {
            named.append(BitsWeight(part, numbers.addNamed(part.names)))
        }
        bits = first..<named.count
        hasConstantBits = field.hasConstantBits
        hasNames = !field.names.isEmpty || field.bits.contains { !$0.names.isEmpty && $0.constant == nil }
        if field.constant != nil {
            (kind, constantBits) = (.constant, 0)
            return
        }
        constantBits = Double(field.bits.filter { $0.constant != nil }.map(\.count).reduce(0, +))
        if case .decimal(let ends, _) = field.kind {
            kind = .digits(ends: ends.count)
        } else {
            kind = field.isText ? .text : .number
        }
    }
}

/// What a search evaluates of bits whose values have names.
struct BitsWeight: Sendable {
    private let lowest: Int
    let count: Int
    /// How many values have names, and where they are in `BinaryHead.namedNumbers`.
    let names: Int
    let named: Range<Int>

    init(_ bits: HeaderField.Bits, _ named: Range<Int>) {
        (lowest, count, names, self.named) = (bits.lowest, bits.count, bits.names.count, named)
    }

    /// The bits' value within that of their field, which is an `Int64`.
    func value(in number: UInt64) -> UInt64 {
        number >> UInt64(lowest) & (count >= 63 ? UInt64(Int64.max) : UInt64(1) << UInt64(count) - 1)
    }
}

/// A number at a fixed place, of which some values have names.
struct NamePlace: Sendable {
    /// Which field of the header it is.
    let field: Int
    let number: FixedPlace
    /// Where they are in `BinaryHead.namedNumbers`.
    let named: Range<Int>
    /// How much less evidence than the most one without a name has.
    let lack: Double

    /// - Parameter offset: where the field is, from the header's first byte.
    init?(_ weight: FieldWeight, field: Int, offset: Int) {
        guard weight.kind == .number, weight.names > 0, let size = weight.size, size <= FieldWeight.longestValue,
            let order = weight.order, let number = FixedPlace(offset: offset, width: size, order: order)
        else { return nil }
        (self.field, self.number, named) = (field, number, weight.named)
        let bits = Double(8 * size)
        lack =
            max(0, Evidence.named(true, of: weight.names, bits: bits))
            - Evidence.named(false, of: weight.names, bits: bits)
    }
}

extension [UInt64] {
    /// Adds the numbers that have names, in ascending order; returns where they are.
    fileprivate mutating func addNamed(_ names: [FieldValue: String]) -> Range<Int> {
        let first = count
        append(contentsOf: names.keys.compactMap(\.unsignedNumber).sorted())
        return first..<count
    }
}

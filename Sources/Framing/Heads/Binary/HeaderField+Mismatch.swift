/// Which values a field may have.
extension HeaderField {
    /// Why a value may not be.
    enum Mismatch {
        case constant, value
        case bits(Bits)
    }

    /// Why the field may not have a value; nil if it may.
    func mismatch(_ value: FieldValue) -> Mismatch? {
        if let constant, let wanted = try? BinaryHead.encode(constant, as: self),
            let found = try? BinaryHead.encode(value, as: self), wanted != found
        {
            return .constant
        }
        return restriction(value)
    }

    /// Whether it is no constant, and yet may not have every value.
    var hasRestriction: Bool { hasConstantBits || !allowed.isEmpty }

    /// Whether a value is one of those that the field may have, and its constant bits are right; a constant is not compared.
    func allows(_ value: FieldValue) -> Bool { restriction(value) == nil }

    /// The same as `mismatch`, but for constants.
    func restriction(_ value: FieldValue) -> Mismatch? {
        if !allowed.allow(value) { return .value }
        guard let number = value.bitPattern else { return nil }
        for bits in bits {
            if let constant = bits.constant, bits.value(in: number) != constant { return .bits(bits) }
        }
        return nil
    }

    /// A mismatch in words.
    func message(_ mismatch: Mismatch, _ value: FieldValue) -> String {
        switch mismatch {
        case .constant: "\(name) is not \(constantText ?? constant?.shortDescription ?? "")"
        case .value: value.isNotAllowed(as: name)
        case .bits(let bits): "\(bits.name) is not \(bits.constant ?? 0)"
        }
    }
}

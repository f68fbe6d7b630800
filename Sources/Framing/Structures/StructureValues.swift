import Streams

/// Collects the values of a structure: those of its outermost items as fields, what is inside them as JSON.
struct StructureValues: StructureVisitor {
    static var wantsValues: Bool { true }

    /// At most this many values are collected.
    static let most = 65_536

    private(set) var fields: [Field] = []
    /// Whether there are more values than are collected.
    private(set) var isCut = false
    /// Whether there are values that JSON does not have: infinity, and what is no number.
    private(set) var isLossy = false
    private var text: [UInt8] = []
    private var open: [Open] = []
    private var count = 0

    /// An object or a list whose members are being collected.
    private struct Open {
        var name: String
        var isList: Bool
        /// Whether it is written as its only member.
        var isFlat: Bool
        var isEmpty = true
    }

    mutating func begin(_ name: String, isList: Bool, isFlat: Bool) {
        comma(name)
        open.append(Open(name: name, isList: isList, isFlat: isFlat))
        if !isFlat { text.append(UInt8(ascii: isList ? "[" : "{")) }
    }

    mutating func end() {
        guard let ended = open.popLast() else { return }
        if ended.isFlat, ended.isEmpty { text += "null".utf8 }
        if !ended.isFlat { text.append(UInt8(ascii: ended.isList ? "]" : "}")) }
        guard open.isEmpty else { return }
        fields.append(Field(ended.name, .json(String(decoding: text, as: UTF8.self))))
        text.removeAll()
    }

    mutating func value(_ name: String, _ value: FieldValue, _ item: Structure.Item, _ place: Range<Int>) {
        count += 1
        guard count <= Self.most else {
            isCut = true
            return
        }
        var value = value
        if case .bytes(let raw) = value, item.isText {
            // Text that is not UTF-8: unlike hex digits, it must not be read as text again.
            value = .json(JSONValue.members([("hex", JSONValue(.bytes(raw)))]).compactText)
        }
        if case .number(let number) = value, !number.isFinite { isLossy = true }
        guard let inner = open.last else { return fields.append(Field(name, value)) }
        if inner.isFlat, !inner.isEmpty { return }
        comma(name)
        JSONOutput.value(value, into: &text)
    }

    mutating func literal(_ place: Range<Int>) {}

    /// Writes what precedes a member of the innermost object or list.
    private mutating func comma(_ name: String) {
        guard let last = open.indices.last else { return }
        if !open[last].isEmpty, !open[last].isFlat { text.append(UInt8(ascii: ",")) }
        open[last].isEmpty = false
        if open[last].isList || open[last].isFlat { return }
        JSONOutput.string(name, into: &text)
        text.append(UInt8(ascii: ":"))
    }
}

extension Structure.Item {
    /// Whether its value is text.
    var isText: Bool {
        switch self.content {
        case .sized(let value): value.isText
        case .ended(let end): end.isText
        case .field(let field): field.isText
        case .words: true
        default: false
        }
    }
}

/// Collects the evidence of a structure: its constants, and text that is readable.
struct StructureEvidence: StructureVisitor {
    static var wantsValues: Bool { true }
    static var wantsLines: Bool { false }

    private(set) var evidence = Evidence()
    private var constants: [Range<Int>] = []
    private var texts: [Range<Int>] = []

    mutating func begin(_ name: String, isList: Bool, isFlat: Bool) {}
    mutating func end() {}
    mutating func literal(_ place: Range<Int>) { constants.append(place) }

    mutating func value(_ name: String, _ value: FieldValue, _ item: Structure.Item, _ place: Range<Int>) {
        switch item.content {
        case .field(let field):
            if field.constant != nil {
                constants.append(place)
            } else if !field.names.isEmpty {
                evidence.values += Evidence.named(
                    field.names[value] != nil, of: field.names.count, bits: 8 * Double(place.count))
            }
            guard name == field.name, let number = value.bitPattern else { return }
            for bits in field.bits {
                if bits.constant != nil {
                    evidence.constants += Double(bits.count)
                } else if !bits.names.isEmpty {
                    let isNamed = bits.names[.integer(bits.value(in: number))] != nil
                    evidence.values += Evidence.named(isNamed, of: bits.names.count, bits: Double(bits.count))
                }
            }
        case .words(let line):
            if let word = line.words.first(where: { $0.name == name }), !word.allowed.isEmpty, !place.isEmpty {
                let length = word.allowed.map(\.utf8.count).min() ?? 0
                evidence.constants += 6 * Double(length) - Evidence.choiceBits(of: word.allowed.count)
            } else {
                texts.append(place)
            }
        case .sized, .ended: if item.isText { texts.append(place) }
        default: break
        }
    }

    /// All evidence, given the bytes that were walked over.
    func total(in bytes: RawSpan, _ background: ByteBackground) -> Evidence {
        var total = evidence
        for place in constants { for at in place { total.constants += background.bits(bytes[byte: at]) } }
        for place in texts where !place.isEmpty {
            let shown = bytes.extracting(place.lowerBound..<min(place.upperBound, place.lowerBound + 64))
            total.values += shown.isPrintable ? min(4, Double(shown.byteCount) / 2) : -4
        }
        return total
    }
}

extension Evidence {
    /// How many bits it takes to say which one of several it is.
    fileprivate static func choiceBits(of count: Int) -> Double { -choice(of: count) }
}

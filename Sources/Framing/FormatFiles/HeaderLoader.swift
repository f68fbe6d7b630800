import Streams
import YAML

/// Reads `header:` and `trailer:` lists.
struct HeaderLoader {
    let context: LoadContext
    /// The byte order of numbers that do not specify their own.
    let order: ByteOrder

    /// The fields of a list; nil if there is none.
    func head(_ map: YAMLMap, _ key: String) -> BinaryHead? {
        guard let node = map[key] else { return nil }
        guard let items = node.sequence else {
            context.add("\(key) should be a list of fields (- name: type), found \(node.kindName)", at: node)
            return nil
        }
        var fields: [HeaderField] = []
        for item in items {
            guard let pair = item.mapping?.first, item.mapping?.count == 1, let name = pair.key.string else {
                let hint = "; constants, words, lists and optional fields need the rule fields"
                context.add(
                    "a field of \(key) should be one name and its type (- name: u16), found \(item.kindName)\(hint)",
                    at: item)
                continue
            }
            // An invalid field still has its name, which others may refer to.
            let field = field(name, pair.value) ?? HeaderField(name: name, kind: .unsigned(width: 4))
            let known = fields.flatMap { [$0.name] + $0.bits.map(\.name) }
            if let twice = ([name] + field.bits.map(\.name)).first(where: known.contains) {
                context.add("\(key) has the field \(twice) twice", at: pair.key)
            }
            if field.fixedSize != 0 { fields.append(field) }
        }
        return fields.isEmpty ? nil : BinaryHead(fields)
    }

    /// A field by its name, and its type or a mapping.
    func field(_ name: String, _ node: Node, _ section: KeySection = Self.section) -> HeaderField? {
        if node.isScalar {
            guard let type = context.text(of: node) else { return nil }
            return kind(type, nil, node).map { HeaderField(name: name, kind: $0, order: order) }
        }
        guard let map = YAMLMap(node, path: "the field \(name)", context: context) else { return nil }
        let structured = ["when", "repeat", "until", "of", "use", "oneOf", "fields", "value", "lines", "quoted"]
        if section === Self.section, let key = structured.first(where: { map[$0] != nil }) {
            map.fault(
                "the field \(name) has \(key), which only headers of the rule fields and bodies of fields have", at: key
            )
            return nil
        }
        return field(name, map.reading(section))
    }

    private func field(_ name: String, _ map: YAMLMap) -> HeaderField? {
        guard let type = map.requiredText("type"), let kind = kind(type, map, map["type"] ?? map.node) else {
            return nil
        }
        var field = HeaderField(name: name, kind: kind, order: order(map))
        field.constant = constant(map, field)
        if field.constant != nil, let text = map.text("equals"), text.hasPrefix("0x") {
            field.constantText = text.lowercased()
        }
        field.allowed = field.constant == nil ? AllowedValues.read(map) : []
        field.names = names(map, ofText: field.isText)
        checkValues(map, field)
        field.bits = bits(map, field)
        let all = [name] + field.bits.map(\.name)
        if let twice = all.indices.first(where: { all[..<$0].contains(all[$0]) }) {
            map.fault("the field \(name) has the name \(all[twice]) twice", at: "bits")
        }
        field.checksum = checksum(map, field)
        return field
    }

    /// The field's own byte order, or that of the header. One that depends on other fields is read elsewhere.
    private func order(_ map: YAMLMap) -> ByteOrder {
        map["byteOrder"]?.mapping != nil ? order : map.choice("byteOrder", ByteOrder.self) ?? order
    }

    /// Whether a text names a type of number whose bytes alone determine its size.
    static func isNumberType(_ text: String) -> Bool {
        guard let letter = text.first, letter == "u" || letter == "i", let bits = Int(text.dropFirst()) else {
            return ["varint", "ber", "lenenc", "vlq"].contains(text)
        }
        return bits % 8 == 0 && (8...64).contains(bits)
    }

    // MARK: Types

    private func kind(_ type: String, _ map: YAMLMap?, _ node: Node) -> HeaderField.Kind? {
        func size(_ range: ClosedRange<Int>) -> Int? {
            if map?["size"] == nil { context.add("a field of type \(type) needs a size", at: node) }
            return map?.integer("size", in: range)
        }
        switch type {
        case "uint": return size(1...8).map { .unsigned(width: $0) }
        case "int": return size(1...8).map { .signed(width: $0) }
        case "f32": return .float(width: 4)
        case "f64": return .float(width: 8)
        case "varint": return .varint(most: map?.integer("max", in: 1...10) ?? 5)
        case "char": return .string(size: 1, padding: 0)
        case "bytes": return size(0...65_536).map { .bytes(size: $0) }
        case "string":
            let padding = map?.integer("padding", in: 0...255) ?? 0
            return size(0...65_536).map { .string(size: $0, padding: UInt8(padding)) }
        case "ber": return .numeral(.ber)
        case "lenenc": return .numeral(.lengthEncoded)
        case "vlq": return .numeral(.groups(most: map?.integer("max", in: 1...10) ?? 5))
        case "hex":
            if let ends = map?.text("ends"), !ends.isEmpty {
                let most = map?.integer("digits", in: 1...16) ?? 16
                return .numeral(.hexadecimal(ends: [UInt8](written: ends), most: most))
            }
            if map?["digits"] != nil {
                return map?.integer("digits", in: 1...16).map { .numeral(.digits(count: $0, base: 16)) }
            }
            context.add("a field of type hex needs digits (how many), or ends, such as \"\\r\\n\"", at: node)
            return nil
        case "decimal":
            guard let ends = map?.text("ends"), !ends.isEmpty else {
                if map?["digits"] != nil {
                    return map?.integer("digits", in: 1...18).map { .numeral(.digits(count: $0, base: 10)) }
                }
                context.add("a field of type decimal needs ends, such as \"\\r\\n\", or digits: how many", at: node)
                return nil
            }
            return .decimal(ends: [UInt8](written: ends), most: map?.integer("digits", in: 1...20) ?? 20)
        default:
            if let letter = type.first, letter == "u" || letter == "i", let bits = Int(type.dropFirst()), bits % 8 == 0,
                (8...64).contains(bits)
            {
                return letter == "u" ? .unsigned(width: bits / 8) : .signed(width: bits / 8)
            }
            context.add(
                "there is no field type \(type); \(LoadContext.hint(type, Self.types.flatMap(\.words)))", at: node)
            return nil
        }
    }

    // MARK: What else a field says

    private func constant(_ map: YAMLMap, _ field: HeaderField) -> FieldValue? {
        // A list or a range is no constant.
        guard map["equals"]?.isScalar == true, let text = map.text("equals"),
            FieldValue(number: text) != nil || !text.contains("..")
        else { return nil }
        let value: FieldValue
        switch field.kind {
        case .string: value = .text(text)
        case .bytes: value = .text((text.hasPrefix("0x") ? String(text.dropFirst(2)) : text).lowercased())
        default:
            guard let number = FieldValue(number: text) else {
                map.fault("\(field.name).equals is \(text); expected a number", at: "equals")
                return nil
            }
            value = number
        }
        do throws(EncodingError) {
            _ = try BinaryHead.encode(value, as: field)
            return value
        } catch {
            map.fault("\(error)", at: "equals")
            return nil
        }
    }

    /// Reports values under `equals` and `names` that the field cannot have. Lists of names that fields share may have more.
    private func checkValues(_ map: YAMLMap, _ field: HeaderField) {
        guard field.kind.isWholeNumber else { return }
        // A single value has been checked as a constant.
        for values in field.allowed where values.low != values.high || map["equals"]?.sequence != nil {
            for value in [values.low, values.high] { check(value, "equals", field, at: map["equals"]) }
        }
        for (key, _) in map["names"]?.mapping ?? [:] {
            if let number = key.string.flatMap(Int.init(number:)) {
                check(.integer(Int64(number)), "names", field, at: key)
            }
        }
    }

    private func check(_ value: FieldValue, _ key: String, _ field: HeaderField, at node: Node?) {
        do throws(EncodingError) {
            _ = try BinaryHead.encode(value, as: field)
        } catch {
            context.add("\(key): \(error)", at: node)
        }
    }

    /// `names: { 1: login }`, or `names: { Q: Query }` if the field is text; `names: commands` for a shared list of the file.
    func names(_ map: YAMLMap, ofText isText: Bool) -> [FieldValue: String] {
        var names: [FieldValue: String] = [:]
        for (key, value) in nameList(map)?.node.mapping ?? [:] {
            guard let name = value.string, !name.isEmpty else {
                context.add("names should be value: name, found \(value.kindName)", at: value)
                continue
            }
            if isText, let text = key.string {
                names[.text(text)] = name
            } else if let number = key.string.flatMap(Int.init(number:)) {
                names[.integer(Int64(number))] = name
            } else {
                context.add("names should be number: name, found \(key.kindName)", at: key)
            }
        }
        return names
    }

    private func nameList(_ map: YAMLMap) -> YAMLMap? {
        guard map["names"]?.isScalar == true, let name = map.text("names") else { return map.map("names") }
        if let list = context.sharedNames[name] { return list }
        let known = context.sharedNames.keys.sorted()
        let hint = known.isEmpty ? "the format has none" : LoadContext.hint(name, known)
        map.fault("there is no list of names \(name); \(hint)", at: "names")
        return nil
    }

    /// `bits: { 0: retain, 1-2: qos }`: bit 0 is the least significant. A name may be `{ name: …, names: …, equals: … }`.
    private func bits(_ map: YAMLMap, _ field: HeaderField) -> [HeaderField.Bits] {
        guard let list = map.map("bits") else { return [] }
        guard case .unsigned(let width) = field.kind else {
            map.fault("only a field of type u8 to u64 has bits", at: "bits")
            return []
        }
        return (list.node.mapping ?? [:]).compactMap { key, value in
            let ends = (key.string ?? "").split(separator: "-").map { Int($0) ?? -1 }
            guard let low = ends.first, let high = ends.last, ends.count <= 2, low >= 0, high >= low else {
                context.add("bits should be bit: name or from-to: name, found \(key.kindName)", at: key)
                return nil
            }
            guard high < 8 * width else {
                context.add("\(field.name) has the bits 0 to \(8 * width - 1), found \(high)", at: key)
                return nil
            }
            if value.isScalar, let name = value.string, !name.isEmpty {
                return HeaderField.Bits(name: name, lowest: low, count: high - low + 1)
            }
            let path = "\(field.name).bits"
            guard let own = YAMLMap(value, path: path, context: context)?.reading(Self.bitsKeys),
                let name = own.requiredText("name")
            else { return nil }
            var bits = HeaderField.Bits(name: name, lowest: low, count: high - low + 1)
            bits.names = names(own, ofText: false)
            bits.constant = own.integer("equals", in: 0...(bits.count >= 63 ? .max : 1 << bits.count - 1)).map(
                Int64.init)
            return bits
        }
    }

    private func checksum(_ map: YAMLMap, _ field: HeaderField) -> FieldChecksum? {
        guard let name = map.text("checksum") else { return nil }
        guard let algorithm = Checksum.named(name) else {
            map.fault("there is no checksum \(name); \(LoadContext.hint(name, Checksum.names))", at: "checksum")
            return nil
        }
        switch field.kind {
        case .bytes(let size) where algorithm.digest != nil && size <= algorithm.byteCount: break
        case .string(let size, _) where algorithm.digest != nil && size <= 2 * algorithm.byteCount: break
        case _ where algorithm.digest != nil:
            map.fault(
                "\(name) needs a field of type bytes with a size of at most \(algorithm.byteCount), or of type string for its hex digits",
                at: "checksum")
            return nil
        case .unsigned(let width) where width < algorithm.byteCount:
            map.fault("\(name) has \(algorithm.byteCount) bytes, the field has \(width)", at: "checksum")
            return nil
        case .unsigned, .numeral(.digits): break
        default:
            map.fault("a checksum needs a field of type u8 to u64, or of digits", at: "checksum")
            return nil
        }
        let keyName = map.text("keyName")
        if keyName != nil, !algorithm.isKeyed { map.fault("\(name) uses no key", at: "keyName") }
        var places: [FieldChecksum.Place] = [.start, .field]
        let words = map.texts("over")
        if !words.isEmpty {
            let known: [String: FieldChecksum.Place] = [
                "start": .start, "body": .body, "end": .bodyEnd, "field": .field,
            ]
            places = words.map { known[$0.text] ?? .named($0.text) }
            if words.count != 2 {
                map.fault(
                    "over should be two of start, body, end, field and names of fields, such as [start, field]",
                    at: "over")
                return nil
            }
            for word in words where known[word.text] == nil { context.checksumEnds.append(word) }
        }
        return FieldChecksum(algorithm: algorithm, from: places[0], to: places[1], keyName: keyName)
    }
}

extension HeaderField.Kind {
    /// Whether its values are whole numbers of a fixed size.
    fileprivate var isWholeNumber: Bool {
        switch self {
        case .unsigned, .signed: true
        case .float, .varint, .decimal, .numeral, .string, .bytes: false
        }
    }
}

import Streams
import Yams

/// Reads `header:` and `trailer:` lists.
struct HeaderLoader {
    let context: LoadContext
    /// The order of numbers that do not say their own.
    let order: ByteOrder

    /// The fields of a list; nil where there is none.
    func head(_ map: YAMLMap, _ key: String) -> BinaryHead? {
        guard let node = map[key] else { return nil }
        guard let items = node.sequence else {
            context.add("\(key) should be a list of fields (- name: type), found \(node.kindName)", at: node)
            return nil
        }
        var fields: [HeaderField] = []
        for item in items {
            guard let pair = item.mapping?.first, item.mapping?.count == 1, let name = pair.key.string else {
                context.add(
                    "a field of \(key) should be one name and its type (- name: u16), found \(item.kindName)", at: item)
                continue
            }
            if fields.contains(where: { $0.name == name }) {
                context.add("\(key) has the field \(name) twice", at: pair.key)
            }
            if let field = field(name, pair.value), field.fixedSize != 0 { fields.append(field) }
        }
        return fields.isEmpty ? nil : BinaryHead(fields)
    }

    private func field(_ name: String, _ node: Node) -> HeaderField? {
        if node.scalar != nil {
            guard let type = context.text(of: node) else { return nil }
            return kind(type, nil, node).map { HeaderField(name: name, kind: $0, order: order) }
        }
        guard let map = YAMLMap(node, path: "the field \(name)", context: context) else { return nil }
        map.allow([
            "type", "size", "padding", "ends", "digits", "equals", "names", "bits", "byteOrder", "checksum", "over",
            "max",
        ])
        guard let type = map.requiredText("type"), let kind = kind(type, map, map["type"] ?? node) else { return nil }
        var field = HeaderField(name: name, kind: kind, order: map.choice("byteOrder", ByteOrder.self) ?? order)
        field.constant = constant(map, field)
        field.names = names(map)
        field.bits = bits(map)
        field.checksum = checksum(map, field)
        return field
    }

    // MARK: Types

    private static let types =
        ["u8", "u16", "u24", "u32", "u64", "i8", "i16", "i32", "i64", "f32", "f64", "uint", "int", "varint", "decimal"]
        + ["string", "bytes", "char"]

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
        case "decimal":
            guard let ends = map?.text("ends"), !ends.isEmpty else {
                context.add("a field of type decimal needs ends, such as \"\\r\\n\"", at: node)
                return nil
            }
            return .decimal(ends: Array(ends.utf8), most: map?.integer("digits", in: 1...20) ?? 20)
        default:
            if let letter = type.first, letter == "u" || letter == "i", let bits = Int(type.dropFirst()), bits % 8 == 0,
                (8...64).contains(bits)
            {
                return letter == "u" ? .unsigned(width: bits / 8) : .signed(width: bits / 8)
            }
            context.add("there is no field type \(type); \(LoadContext.hint(type, Self.types))", at: node)
            return nil
        }
    }

    // MARK: What else a field says

    private func constant(_ map: YAMLMap, _ field: HeaderField) -> FieldValue? {
        guard let text = map.text("equals") else { return nil }
        let value: FieldValue
        switch field.kind {
        case .string: value = .text(text)
        case .bytes: value = .text(text.hasPrefix("0x") ? String(text.dropFirst(2)) : text)
        default:
            guard let number = Int(number: text) else {
                map.fault("\(field.name).equals is \(text); expected a number", at: "equals")
                return nil
            }
            value = .integer(Int64(number))
        }
        do throws(EncodingError) {
            _ = try BinaryHead.encode(value, as: field)
            return value
        } catch {
            map.fault("\(error)", at: "equals")
            return nil
        }
    }

    private func names(_ map: YAMLMap) -> [Int64: String] {
        var names: [Int64: String] = [:]
        for (key, value) in map.map("names")?.node.mapping ?? [:] {
            guard let number = key.string.flatMap(Int.init(number:)), let name = value.string else {
                context.add("names should be number: name, found \(key.kindName)", at: key)
                continue
            }
            names[Int64(number)] = name
        }
        return names
    }

    /// `bits: { 0: retain, 1-2: qos }`: bit 0 is the least significant.
    private func bits(_ map: YAMLMap) -> [HeaderField.Bits] {
        var bits: [HeaderField.Bits] = []
        for (key, value) in map.map("bits")?.node.mapping ?? [:] {
            let ends = (key.string ?? "").split(separator: "-").map { Int($0) ?? -1 }
            guard let low = ends.first, let high = ends.last, ends.count <= 2, low >= 0, high >= low, high < 64,
                let name = value.string
            else {
                context.add("bits should be bit: name or from-to: name, found \(key.kindName)", at: key)
                continue
            }
            bits.append(HeaderField.Bits(name: name, lowest: low, count: high - low + 1))
        }
        return bits
    }

    private func checksum(_ map: YAMLMap, _ field: HeaderField) -> FieldChecksum? {
        guard let name = map.text("checksum") else { return nil }
        guard let algorithm = Checksum.named(name) else {
            map.fault("there is no checksum \(name); \(LoadContext.hint(name, Checksum.names))", at: "checksum")
            return nil
        }
        guard case .unsigned = field.kind else {
            map.fault("a checksum needs a field of type u8 to u64", at: "checksum")
            return nil
        }
        var places: [FieldChecksum.Place] = [.start, .field]
        let words = map.texts("over")
        if !words.isEmpty {
            let known: [String: FieldChecksum.Place] = [
                "start": .start, "body": .body, "end": .bodyEnd, "field": .field,
            ]
            places = words.compactMap { known[$0.text] }
            if places.count != 2 || words.count != 2 {
                map.fault("over should be two of start, body, end and field, such as [start, field]", at: "over")
                return nil
            }
        }
        return FieldChecksum(algorithm: algorithm, from: places[0], to: places[1])
    }
}

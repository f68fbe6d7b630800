import Expressions
import Streams
import YAML

/// Reads format files: YAML in, a checked `Format` out.
package enum FormatLoader {
    /// The largest format file, in bytes.
    static let largestFile = 1 << 20
    /// The name of the file's outermost mapping in error messages.
    static let topPath = "the format"

    /// The format that a file describes.
    ///
    /// - Parameters:
    ///   - yaml: the file's text.
    ///   - file: its name, for error messages.
    ///   - parameters: values that override the format's parameters' defaults.
    ///   - source: the text of another file that it extends, by the name that it gives; nil if there is none.
    package static func load(
        _ yaml: String, file: String, parameters: [String: String] = [:], source: ((String) -> String?)? = nil
    ) throws(FormatFileError) -> Format {
        try load(yaml, file: file, parameters: parameters, source: source, probe: nil).format
    }

    /// The same for a file that somebody writes, with warnings about what is allowed in it but mostly unintended, and with the
    /// faults of its variant (`detect.alsoWith`).
    package static func loadWithWarnings(
        _ yaml: String, file: String, parameters: [String: String] = [:], source: ((String) -> String?)? = nil
    ) throws(FormatFileError) -> (format: Format, warnings: [FormatFileError.Fault]) {
        let loaded = try load(yaml, file: file, parameters: parameters, source: source, probe: nil)
        guard let values = loaded.format.detection?.alsoWith, !values.isEmpty else { return loaded }
        do throws(FormatFileError) {
            _ = try load(yaml, file: file, parameters: values, source: source, probe: nil)
        } catch {
            var error = error
            for index in error.faults.indices { error.faults[index].message += " (with detect.alsoWith)" }
            throw error
        }
        return loaded
    }

    /// The same; the probe takes note of the keys that are read.
    package static func load(
        _ yaml: String, file: String, parameters: [String: String] = [:], source: ((String) -> String?)? = nil,
        probe: KeyProbe?
    ) throws(FormatFileError) -> (format: Format, warnings: [FormatFileError.Fault]) {
        let context = LoadContext()
        context.probe = probe
        defer { context.sharedNames = [:] }  // its maps keep the context alive
        let format = read(yaml, file, parameters, context, source)
        if format == nil, context.faults.isEmpty {
            context.add("the format does not say how to read its frames", line: 1, column: 1)
        }
        guard let format, context.faults.isEmpty else {
            throw FormatFileError(file: file, faults: inOrder(context.faults, context))
        }
        return (format, inOrder(context.warnings, context))
    }

    /// Faults in the order of the files and their lines.
    private static func inOrder(_ faults: [FormatFileError.Fault], _ context: LoadContext) -> [FormatFileError.Fault] {
        faults.sorted { ($0.line, $0.column) < ($1.line, $1.column) }.map { context.extended.located($0) }
    }

    /// The format that a file describes, then the variant of it that is recognized as well (`detect.alsoWith`), if there is one.
    package static func loadWithVariant(_ yaml: String, file: String) throws(FormatFileError) -> [Format] {
        let format = try load(yaml, file: file)
        guard let values = format.detection?.alsoWith, !values.isEmpty else { return [format] }
        var other = try load(yaml, file: file, parameters: values)
        other.variant = values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
        return [format, other]
    }

    /// The outline of a file known to be valid: the rest is not parsed.
    static func outline(_ yaml: String) -> FormatOutline? {
        let context = LoadContext()
        guard let head = try? Composer.compose(yaml, while: ["format", "summary", "ports"]),
            let top = YAMLMap(Node(.mapping(head)), path: topPath, context: context), let name = top.text("format")
        else { return nil }
        return FormatOutline(name: name, summary: top.text("summary") ?? "", ports: ports(top))
    }

    private static func read(
        _ yaml: String, _ path: String, _ parameters: [String: String], _ context: LoadContext,
        _ source: ((String) -> String?)?
    ) -> Format? {
        guard let own = FormatYAML.compose(yaml, context: context),
            let file = YAMLMap(own, path: topPath, context: context),
            let top = YAMLMap(
                FormatExtension.resolve(file.reading(section), in: path, source), path: topPath, context: context)?
                .reading(section)
        else { return nil }
        readParameters(top, parameters, context)
        readNames(top)
        readTypes(top)
        for (key, value) in top.map("formats")?.node.mapping ?? [:] {
            if let name = key.string { context.formats[name] = value }
        }
        let layouts = PerDirection(fromClient: layouts(top, "client"), fromServer: layouts(top, "server"))
        let bodies = bodies(top, layouts)
        let client = direction(top, .fromClient, layouts, bodies)
        let clientFields = context.fields
        context.fields = []
        let server = direction(top, .fromServer, layouts, bodies)
        // From here on conditions apply to the frames of either side.
        context.fields = context.fields.flatMap { own in clientFields.map { own.union($0) } }
        if let client, let server {
            context.bodies = client.bodies + server.bodies
        } else {
            context.fields = nil
            context.bodies = nil
        }
        let types = KnownTypes(client: client, server: server)
        types?.check(top)
        context.frameTypes = types
        let detection = DetectionLoader.detection(top)
        let heartbeat = top.map("heartbeat").flatMap { HeartbeatLoader.contract($0) }
        let sides = client.flatMap { client in server.map { PerDirection(fromClient: client, fromServer: $0) } }
        let pairings = PairingLoader.pairings(top, sides)
        let relay = RelayLoader.relay(top, sides)
        let broadcast = RelayLoader.broadcast(top)
        let beginning = RelayLoader.beginning(top)
        let upgrade = RelayLoader.upgrade(top)
        let ports = ports(top)
        let secrets = SecretLoader.secrets(top, sides) + (sides.map { innerSecrets($0) } ?? [])
        let hazards = HazardLoader.hazards(top)
        let summary = top.text("summary") ?? ""
        let name = top.requiredText("format")
        if let name, name.isEmpty || !name.utf8.allSatisfy(isNameByte) {
            top.fault("the format's name \(name) should have lower-case letters, digits and - only", at: "format")
        }
        guard let name, let client, let server else { return nil }
        var format = Format(
            name: name, summary: summary, ports: ports,
            directions: PerDirection(fromClient: client, fromServer: server), detection: detection,
            heartbeat: heartbeat, pairings: pairings, relay: relay, broadcast: broadcast,
            secrets: Format.withCopies(secrets, PerDirection(fromClient: client, fromServer: server)), hazards: hazards)
        format.beginning = beginning
        format.upgrade = upgrade
        StateLoader.read(top, into: &format)
        format.sequence = top.map("sequence", SequenceLoader.section).flatMap { SequenceLoader.rule($0, sides) }
        return format
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static func readParameters(_ top: YAMLMap, _ given: [String: String], _ context: LoadContext) {
        var values: [String: String] = [:]
        for (key, value) in top.map("parameters")?.node.mapping ?? [:] {
            guard let name = key.string, let text = value.string else {
                context.add("parameters should be name: value, found \(value.kindName)", at: key)
                continue
            }
            values[name] = text
        }
        for (name, value) in given.sorted(by: { $0.key < $1.key }) {
            if values[name] == nil {
                let known = values.keys.sorted()
                let hint = known.isEmpty ? "it has none" : LoadContext.hint(name, known)
                top.fault("the format has no parameter \(name); \(hint)", at: "parameters")
            }
            values[name] = value
        }
        context.parameters = values
    }

    /// Lists of names that several fields refer to.
    private static func readNames(_ top: YAMLMap) {
        guard let lists = top.map("names") else { return }
        for (key, _) in lists.node.mapping ?? [:] {
            if let name = key.string { top.context.sharedNames[name] = lists.map(name) }
        }
    }

    /// Structures that several fields are.
    private static func readTypes(_ top: YAMLMap) {
        for (key, value) in top.map("types")?.node.mapping ?? [:] {
            if let name = key.string { top.context.types[name] = value }
        }
        // Those that nothing uses may have faults, too.
        for name in top.context.types.keys.sorted() {
            let use = Node(.mapping([Node("use"): Node(name)]))
            let item = Node(.sequence([Node(.mapping([Node("it"): use]))]))
            _ = StructureLoader(context: top.context, order: .big, outside: nil)
                .structure(item, path: "types", isBounded: true)
        }
    }

    private static func ports(_ top: YAMLMap) -> [UInt16] {
        top.texts("ports").compactMap { text, node in
            if let port = UInt16(text), port > 0 { return port }
            top.context.add("port \(text) should be from 1 to 65535", at: node)
            return nil
        }
    }

    // MARK: Directions

    /// The frames of one direction: from its own section, otherwise from the top level for both.
    private static func layouts(_ top: YAMLMap, _ side: String) -> LayoutLoader.Built? {
        top.context.choices = 0
        top.context.side = side == "client" ? .fromClient : .fromServer
        let own = top.map(side, LayoutLoader.sideKeys)
        let sections = [own, top].compactMap { $0 }
        let loader = LayoutLoader(context: top.context)
        return (top.has("states") ? top.map("states") : nil).map { loader.states($0, side: side, sections) }
            ?? loader.build(sections)
    }

    /// How the bodies of both directions are decoded, given their frames.
    private static func bodies(
        _ top: YAMLMap, _ layouts: PerDirection<LayoutLoader.Built?>
    ) -> PerDirection<BodyFormat> {
        func body(_ side: Direction) -> BodyFormat {
            top.context.side = side
            let own = top.map(side.sender, LayoutLoader.sideKeys)
            let sections = [own, top].compactMap { $0 }
            top.context.headNames = layouts[side].flatMap { FrameValues.fields(of: $0.layouts, $0.rule) }
            let order = sections.lazy.compactMap { $0.text("byteOrder") }.first
            top.context.bodyOrder = order.flatMap { ByteOrder(rawValue: $0) } ?? .big
            return own.flatMap(BodyFormat.init) ?? BodyFormat(top) ?? BodyFormat()
        }
        return PerDirection(fromClient: body(.fromClient), fromServer: body(.fromServer))
    }

    /// One direction, given the frames and bodies of both.
    ///
    /// All of a file's faults are reported at once: an error does not stop the rest from being read.
    private static func direction(
        _ top: YAMLMap, _ side: Direction, _ layouts: PerDirection<LayoutLoader.Built?>,
        _ bodies: PerDirection<BodyFormat>
    ) -> DirectionFormat? {
        let (built, other) = (layouts[side], layouts[side.opposite])
        let body = bodies[side]
        top.context.side = side
        let own = top.map(side.sender, LayoutLoader.sideKeys)
        let sections = [own, top].compactMap { $0 }
        top.context.headNames = built.flatMap { FrameValues.fields(of: $0.layouts, $0.rule) }
        let frame = sections.first { $0["frame"] != nil }?.map("frame", frameKeys)
        top.context.fields = built.flatMap { FrameValues.fields(of: $0.layouts, $0.rule) }
        var known = [body] + (built?.layouts.compactMap(\.body) ?? [])
        if !body.byType.isEmpty, let built, frame?["type"] == nil, !built.layouts.contains(where: { $0.name != nil }) {
            let map = own?["body"] == nil ? top : own
            top.context.warn(
                "body.byType goes by the frames' types, and they have none: say under frame what their type is",
                at: map?["body"])
        }
        guard let built else { return nil }
        let fields = top.context.fields
        // What is said of both sides may refer to the fields of either.
        if own?["frame"] == nil, let other {
            let others = FrameValues.fields(of: other.layouts, other.rule)
            top.context.fields = fields.flatMap { own in others.map { own.union($0) } }
            known += [bodies[side.opposite]] + other.layouts.compactMap(\.body)
        }
        top.context.bodies = known
        defer { top.context.fields = fields }
        return DirectionFormat(
            rule: built.rule, layouts: built.layouts, typeName: typeName(frame, built.layouts, known),
            fromPlace: place(frame, "from", built.layouts, known), toPlace: place(frame, "to", built.layouts, known),
            body: body)
    }

    /// A field that must be in one of the headers.
    static func field(_ map: YAMLMap?, _ key: String, _ layouts: [FrameLayout]) -> String? {
        guard let map, let name = map.text(key) else { return nil }
        if let hint = unknownField(name, layouts) {
            map.fault("there is no field \(name) in the header; \(hint)", at: key)
        }
        return name
    }

    /// The error for a field that no header has; nil if one has it, or could.
    static func unknownField(_ name: String, _ layouts: [FrameLayout]) -> String? {
        var known: [String] = []
        for layout in layouts {
            if let head = layout.head, !(head is BinaryHead) {
                guard let names = head.names else { return nil }
                known += names
                continue
            }
            for field in ((layout.head as? BinaryHead)?.fields ?? []) + (layout.trailer?.fields ?? []) {
                known += [field.name] + field.bits.map(\.name)
            }
        }
        if known.contains(name) { return nil }
        return known.isEmpty ? "the format has no header" : LoadContext.hint(name, known)
    }

    private static func typeName(_ frame: YAMLMap?, _ layouts: [FrameLayout], _ bodies: [BodyFormat]) -> TypeName {
        guard let frame, let node = frame["type"] else {
            return layouts.contains { $0.name != nil } ? .layout : .none
        }
        if node.sequence == nil {
            if let path = node.string, path.hasPrefix("body.") {
                return typePlace(path, in: frame, at: node, bodies).map { .value($0) } ?? .none
            }
            if let path = node.string, let place = ValuePlace(field: path), case .inField = place {
                return .cases([TypeCase(condition: nil, name: .place(place))])
            }
            return field(frame, "type", layouts).map { .field($0) } ?? .none
        }
        let cases = (node.sequence ?? []).enumerated().compactMap { index, item -> TypeCase? in
            if let path = item.string { return typeCase(path, at: item, frame, bodies) }
            guard
                let map = YAMLMap(item, path: "\(frame.path).type[\(index)]", context: frame.context)?.reading(
                    caseKeys),
                let name = map.requiredText("is")
            else { return nil }
            if map["when"] == nil { return TypeCase(condition: nil, name: .text(name)) }
            return condition(map, "when", except: "type").map { TypeCase(condition: $0, name: .text(name)) }
        }
        return .cases(cases)
    }

    /// The value of the body that names a frame's type; a fault if it is a list or an object in all bodies.
    private static func typePlace(
        _ text: String, in frame: YAMLMap, at node: Node, _ bodies: [BodyFormat]
    ) -> ValuePlace? {
        guard let place = bodyPlace(text, in: frame, "type", bodies) else { return nil }
        guard case .body(let path) = place else { return place }
        let steps = path.first == FieldsBody.name ? path.dropFirst() : path[...]
        let items = bodies.flatMap(\.chains).compactMap(\.structure).flatMap { $0.items(at: steps) }
        if !items.isEmpty, items.allSatisfy(\.isContainer) {
            frame.context.add("\(frame.path).type is \(text), a list or an object; expected a value in it", at: node)
        }
        return place
    }

    /// The value of a field, or of the body, that names the type of the frames that have it.
    private static func typeCase(
        _ path: String, at node: Node, _ frame: YAMLMap, _ bodies: [BodyFormat]
    ) -> TypeCase? {
        if path.hasPrefix("body.") {
            return typePlace(path, in: frame, at: node, bodies).map { TypeCase(condition: nil, name: .place($0)) }
        }
        guard let place = ValuePlace(field: path) else { return nil }
        let name = String(path.prefix { $0 != "." && $0 != "[" })
        if let known = frame.context.fields, !known.contains(name) {
            let hint = LoadContext.hint(name, known.sorted())
            frame.context.add("there is no field \(name) in the header; \(hint)", at: node)
        }
        return TypeCase(condition: nil, name: .place(place))
    }

    /// A format inside another one's bodies: frames, their types and bodies.
    static func inner(_ node: Node, named name: String, in context: LoadContext) -> Format? {
        guard let map = YAMLMap(node, path: "formats.\(name)", context: context)?.reading(innerKeys) else { return nil }
        let around = (context.fields, context.headNames, context.bodyOrder, context.side, context.bodies)
        context.nesting += 1
        defer {
            (context.fields, context.headNames, context.bodyOrder, context.side, context.bodies) = around
            context.nesting -= 1
        }
        let layouts = PerDirection(fromClient: layouts(map, "client"), fromServer: layouts(map, "server"))
        let bodies = bodies(map, layouts)
        guard let client = direction(map, .fromClient, layouts, bodies),
            let server = direction(map, .fromServer, layouts, bodies)
        else { return nil }
        let sides = PerDirection(fromClient: client, fromServer: server)
        var format = Format(name: name, summary: "", ports: [], directions: sides)
        // It cannot declare secrets, but the formats of frames inside its own may have some.
        format.secrets = Format.withCopies(innerSecrets(sides), sides)
        return format
    }

    /// One of the two sides.
    static func side(_ map: YAMLMap, _ key: String) -> Direction? {
        guard let side = map.text(key) else { return nil }
        if let direction = Direction.allCases.first(where: { $0.sender == side }) { return direction }
        map.fault("\(map.path).\(key) is \(side); expected client or server", at: key)
        return nil
    }

    /// A condition on a frame's type and the fields of its header, with or without `fields.` in front.
    static func headCondition(_ map: YAMLMap, _ key: String) -> Expression? {
        guard let source = map.requiredText(key) else { return nil }
        do throws(ExpressionError) {
            return try Expression(parsing: source) { path in
                let path = path.first == "fields" && path.count > 1 ? Array(path.dropFirst()) : path
                guard path[0] != "type", let known = map.context.headNames, !known.contains(path[0]) else { return nil }
                return "there is no field \(path[0]) in the header; \(LoadContext.hint(path[0], known.sorted()))"
            }
        } catch {
            map.context.add("\(map.path).\(key): \(error.message)", at: map[key], columns: error.column - 1)
            return nil
        }
    }

    /// An expression over a frame's values; values that no frame has are faults.
    ///
    /// - Parameters:
    ///   - namesFields: whether a field may be named without `fields.` in front.
    ///   - hasRequest: whether `request.NAME` is the field of the request that a frame answers.
    static func condition(
        _ map: YAMLMap, _ key: String, except forbidden: String? = nil, namesFields: Bool = false,
        hasRequest: Bool = false
    ) -> Expression? {
        guard let source = map.requiredText(key) else { return nil }
        do throws(ExpressionError) {
            let condition = try Expression(parsing: source) { path in
                if path.first == forbidden { return "\(path[0]) cannot be used here: it is what is being decided" }
                if hasRequest, path.first == "request", path.count > 1 {
                    return FrameValues.complaint(
                        about: ["fields"] + path.dropFirst(), fields: map.context.fields, bodies: nil)
                }
                let isField = namesFields && path.count == 1 && !FrameValues.names.contains(path[0])
                let path = isField ? ["fields"] + path : path
                return FrameValues.complaint(about: path)
                    ?? FrameValues.complaint(
                        about: path, fields: map.context.fields, bodies: map.context.bodies)
            }
            map.context.frameTypes?.check(condition, at: map[key], map.context)
            return condition
        } catch {
            map.context.add("\(map.path).\(key): \(error.message)", at: map[key], columns: error.column - 1)
            return nil
        }
    }
}

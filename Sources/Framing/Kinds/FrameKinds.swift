import Expressions
import Streams

/// The kinds of frames seen in one direction of a format: what follows from the few bytes of a head that name a frame's type is
/// computed once, and looked up from then on.
///
/// Nothing called here re-enters to change it, so exclusivity is not checked on every access.
package final class FrameKinds {
    /// What all frames of a kind have in common.
    package struct Kind {
        /// The name of their type.
        package var type: String?
        /// Whether they are heartbeats; nil if that depends on more than the type.
        package var isHeartbeat: Bool?
        /// Their roles in the format's pairings; nil if that depends on more than the type.
        var roles: [PairRole]?
        /// The name as traces write it: a JSON string, or null.
        package var typeJSON: [UInt8]
        /// Their parts to redact; nil if that depends on more than the type.
        package var secrets: SecretPaths?
        /// How their bodies are read.
        var body: BodyChain
        /// Whether that depends on more than the type.
        var bodyVaries: Bool
    }

    /// The properties of a kind that most frames need, in a form that is cheap to look up.
    struct Traits {
        var isHeartbeat: Bool
        /// Whether each frame must be examined to determine whether it is a heartbeat.
        var asksForHeartbeat: Bool
        /// Whether they are requests or answers.
        var isPaired: Bool
        /// Whether each frame must be examined to determine that.
        var asksForPairs: Bool
        var check: BodyChain.QuickCheck
        /// Whether nothing of them is secret.
        var hidesNothing: Bool
        /// Whether none of their fields is.
        var hidesNoField: Bool
    }

    /// The kinds seen so far.
    @exclusivity(unchecked) package private(set) var kinds: [Kind] = []
    @exclusivity(unchecked) private(set) var traits: [Traits] = []
    /// The kinds of frames of the only layout, if a number determines them, and where it is.
    @exclusivity(unchecked) private(set) var slots = KindSlots()
    let place: FixedPlace?

    package let format: DirectionFormat
    let direction: Direction
    /// The parts of frames to redact.
    package let secrets: [Secret]
    /// Whether bytes that belong to no frame may hold secrets: a truncated or unrecognized frame.
    package let hidesUnframed: Bool
    private let heartbeat: Expression?
    private let pairs: [(role: PairRole, condition: Expression)]
    private let layouts: [LayoutKinds]
    /// Whether a frame's fields are those of its head, and no others.
    private let hasPlainFields: Bool
    /// What to write for them, and the head's length, if they are numbers in the only layout there is.
    let numbers: (texts: FieldTexts, length: Int)?
    private let hasPlainBodies: Bool
    /// Whether some headers are structures, whose fields people look for.
    package let hasStructures: Bool

    /// At most this many kinds are remembered.
    private static let most = 4_096

    /// The kinds of a direction's frames, none of which has been seen.
    package init(_ format: Format, _ direction: Direction) {
        self.format = format.directions[direction]
        self.direction = direction
        secrets = format.secrets
        hidesUnframed = !format.secrets.isEmpty
        heartbeat = format.heartbeat?.condition
        pairs = format.pairConditions(direction)
        let side = self.format
        layouts = side.layouts.map { LayoutKinds(TypeSource(side.typeName, in: $0)) }
        hasPlainFields = side.rule.noted.isEmpty && side.layouts.allSatisfy { $0.trailer == nil && $0.head != nil }
        if hasPlainFields, side.layouts.count == 1, let head = side.layouts[0].head as? BinaryHead,
            let length = head.fixedLength, length > 0, head.texts.areNumbers
        {
            numbers = (head.texts, length)
        } else {
            numbers = nil
        }
        hasPlainBodies = side.hasPlainBodies
        hasStructures = side.layouts.contains { $0.head is StructuredHead }
        if layouts.count == 1, case .number(let place) = layouts[0].source { self.place = place } else { place = nil }
    }

    /// A frame's kind; nil if no few bytes determine it.
    package func kind(of content: RawSpan, _ shape: FrameShape) -> Int? {
        if let place {
            // First, so that nothing is called while the slots are looked at: they would be retained.
            let number = place.value(in: content, at: 0)
            let kind = slots.kind(of: number)
            if kind >= 0 { return kind }
        }
        return kindByLayout(content, shape)
    }

    private func kindByLayout(_ content: RawSpan, _ shape: FrameShape) -> Int? {
        layouts[shape.layout].known(content, shape) ?? learn(content, shape)
    }

    private func learn(_ content: RawSpan, _ shape: FrameShape) -> Int? {
        guard layouts[shape.layout].hasSource, kinds.count < Self.most else { return nil }
        let type = format.type(of: content, shape)
        func truth(_ condition: Expression) -> Bool? { condition.truth(forType: type, from: direction) }
        let isHeartbeat: Bool? = if let heartbeat { truth(heartbeat) } else { false }
        var typeJSON = Array("null".utf8)
        if let type {
            typeJSON = []
            JSONOutput.string(type, into: &typeJSON)
        }
        var hidden: SecretPaths?
        if secrets.allSatisfy({ $0.condition.map { truth($0) != nil } ?? true }) {
            hidden = SecretPaths(secrets, from: direction) { truth($0) == true }
        }
        var roles: [PairRole]?
        if pairs.allSatisfy({ truth($0.condition) != nil }) {
            roles = pairs.filter { truth($0.condition) == true }.map(\.role)
        }
        let kind = Kind(
            type: type, isHeartbeat: isHeartbeat, roles: roles, typeJSON: typeJSON, secrets: hidden,
            body: format.body(of: shape).chain(for: type), bodyVaries: !format.body(of: shape).cases.isEmpty)
        let number = kinds.count
        guard layouts[shape.layout].remember(number, content, shape) else { return nil }
        kinds.append(kind)
        traits.append(
            Traits(
                isHeartbeat: isHeartbeat ?? false, asksForHeartbeat: isHeartbeat == nil,
                isPaired: roles?.isEmpty == false, asksForPairs: roles == nil,
                check: kind.bodyVaries ? .closer : kind.body.quickCheck,
                hidesNothing: hidden?.isEmpty ?? false, hidesNoField: hidden?.fields.isEmpty ?? false))
        if let place { slots.remember(number, for: place.value(in: content, at: 0)) }
        return number
    }

    /// Whether a frame is a heartbeat. Not inlined: callers look at `traits` first, which usually suffices, and stay small. The same is true of
    /// `roles`.
    @inline(never)
    func isHeartbeat(_ kind: Int?, _ info: FrameInfo, _ content: RawSpan, _ shape: FrameShape) -> Bool {
        if let kind, let known = kinds[kind].isHeartbeat { return known }
        guard let heartbeat else { return false }
        return FrameValues(info: info, direction: direction)
            .fulfil(heartbeat, content: content, shape: shape, format: format)
    }

    /// A frame's roles in the format's pairings.
    @inline(never)
    package func roles(_ kind: Int?, _ info: FrameInfo, _ content: RawSpan, _ shape: FrameShape) -> [PairRole] {
        if let kind, let known = kinds[kind].roles { return known }
        if pairs.isEmpty { return [] }
        let values = FrameValues(info: info, direction: direction)
        return pairs.filter { values.fulfil($0.condition, content: content, shape: shape, format: format) }.map(\.role)
    }

    /// The fault in a frame's body; nil if there is none.
    func fault(_ kind: Int?, _ content: RawSpan, _ shape: FrameShape) -> BodyFault.Kind? {
        if hasPlainBodies { return nil }
        let body = content.extracting(shape.head..<shape.head + shape.body)
        if let kind, !kinds[kind].bodyVaries {
            return kinds[kind].body.fault(
                of: body, type: kinds[kind].type, head: format.bodyHead(of: content, shape))
        }
        let type = format.type(of: content, shape)
        let head = format.bodyHead(of: content, shape)
        return format.body(of: shape).chain(for: type, head: head.fields).fault(of: body, type: type, head: head)
    }
}

extension FrameKinds {
    /// Writes the type's name as a JSON string, or null.
    @inline(__always)
    package func writeType(_ kind: Int?, _ content: RawSpan, _ shape: FrameShape, into bytes: inout [UInt8]) {
        if let kind {
            let json = kinds[kind].typeJSON
            bytes.append(contentsOf: json.span.bytes)
        } else {
            writeType(content, shape, into: &bytes)
        }
    }

    private func writeType(_ content: RawSpan, _ shape: FrameShape, into bytes: inout [UInt8]) {
        if let type = format.type(of: content, shape) {
            JSONOutput.string(type, into: &bytes)
        } else {
            bytes.append(contentsOf: "null".utf8)
        }
    }

    /// Writes the fields of a frame that has no secrets as a JSON object.
    package func writeFields(of content: RawSpan, _ shape: FrameShape, into bytes: inout [UInt8]) {
        if let numbers, shape.head >= numbers.length {
            bytes.append(upTo: numbers.texts.room) { numbers.texts.writeNumbers(content, into: &$0) }
        } else if hasPlainFields, shape.layout < format.layouts.count, let head = format.layouts[shape.layout].head {
            head.writeFields(of: content.extracting(0..<shape.head), into: &bytes)
        } else {
            JSONOutput.object(format.fields(of: content, shape), into: &bytes)
        }
    }

    /// Whether nothing of a frame is secret.
    package func hidesNothing(_ kind: Int?) -> Bool {
        if secrets.isEmpty { return true }
        guard let kind else { return false }
        return traits[kind].hidesNothing
    }

    /// Whether no field of a frame is secret.
    package func hidesNoField(_ kind: Int?) -> Bool {
        if secrets.isEmpty { return true }
        guard let kind else { return false }
        return traits[kind].hidesNoField
    }

    /// The decoded body of a frame without secrets. Its faults are not reported.
    ///
    /// - Parameter triesPlain: false if it is known that `PlainProtobuf` does not write it.
    package func shownBody(
        _ kind: Int?, _ content: RawSpan, _ shape: FrameShape, triesPlain: Bool = true
    ) -> DecodedBody {
        if let kind, traits[kind].check == .protobuf {
            let body = content.extracting(shape.head..<shape.head + shape.body)
            if ProtobufReader.isMessage(body) == false { return DecodedBody(.opaque) }
        }
        return body(kind, content, shape, triesPlain: triesPlain)
    }

    /// Decodes a frame's body.
    package func body(
        _ kind: Int?, _ content: RawSpan, _ shape: FrameShape, triesPlain: Bool = true
    ) -> DecodedBody {
        guard let kind, !kinds[kind].bodyVaries else { return format.decodeBody(of: content, shape) }
        let body = content.extracting(shape.head..<shape.head + shape.body)
        if traits[kind].check == .protobuf, body.byteCount > 0,
            let json = (triesPlain ? PlainProtobuf.json(of: body) : nil) ?? ProtobufBody.json(ofMessage: body)
        {
            return DecodedBody(.protobuf, bytes: json)
        }
        if hasPlainBodies { return kinds[kind].body.decode(body, type: kinds[kind].type) }
        let head = kinds[kind].body.readsHead ? format.bodyHead(of: content, shape) : BodyHead()
        return kinds[kind].body.decode(body, type: kinds[kind].type, head: head)
    }
}

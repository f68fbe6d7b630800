import Expressions
import Streams

/// What both directions of a connection have come to by the frames so far: the state of each, and the requests that wait for an
/// answer. The rules of a format with states, or whose answers depend on their requests, ask it; a `Framer` tells it of frames.
///
/// A class, since both directions' framers share it. `@unchecked Sendable`: it is created together with the two framers of one
/// connection, reachable through them only, and a framer is a value that its owner changes; both have the same owner.
package final class Conversation: @unchecked Sendable {
    private let format: Format?
    /// What the rules remember of each direction: where the walk over an unfinished header had to stop, what frames have left.
    let memories = PerDirection(fromClient: DirectionMemory(), fromServer: DirectionMemory())
    let hasStates: Bool
    /// Whether frames leave values for those after them.
    private let remembers: Bool
    private let states: ConversationStates
    private var sides: PerDirection<Side>
    /// What is to be known of the oldest requests without an answer, and how many more there are of which it is not.
    private var requests: [StructureScope] = []
    private var moreRequests = 0
    /// The values that answers depend on.
    private let requestPaths: Set<[String]>
    private var wantsRequests: Bool { !requestPaths.isEmpty }

    /// At most this many requests are remembered, and values of at most this many bytes: a client may send any number of requests
    /// before the first is answered.
    private static let mostRequests = 1_024
    private static let longestValue = 256

    private struct Side {
        /// Its state; nil if the stream was picked up mid-stream and its frames have not shown it.
        var state: Int?
        /// Where a frame began that is not complete, and the state at that time.
        var held: (offset: Int, state: Int?)?
        /// Whether it has sent a frame.
        var hasFrames = false
        /// How many encodings of its stream are removed.
        var layers = 0
        /// What is to be decoded before it is framed; nil: nothing.
        var handedOver: HandedOver?
        /// Why its bytes cannot be decoded any more.
        var undecodable: String?
    }

    /// Whether a `LayeredStream` decodes what a direction's framer hands over.
    var removesLayers = PerDirection(fromClient: false, fromServer: false)

    /// A connection at its beginning, or picked up mid-stream; nil if the format's frames do not depend on others.
    package init?(_ format: Format, aligned: Bool) {
        let ofTransitions = format.states?.transitions.flatMap(\.condition.paths) ?? []
        requestPaths = Set(
            format.directions.fromServer.rule.requestPaths + ofTransitions.filter { $0.first == "request" })
        hasStates = format.states != nil
        remembers = Direction.allCases.contains { side in
            format.directions[side].layouts.contains { ($0.rule as? Structured)?.remembering != nil }
        }
        guard
            hasStates || !requestPaths.isEmpty
                || Direction.allCases.contains(where: { format.directions[$0].rule.remembersWalks })
        else { return nil }
        self.format = format
        states = format.states ?? ConversationStates(names: [], transitions: [], layers: [])
        let side = Side(state: aligned ? 0 : nil, held: nil)
        sides = PerDirection(fromClient: side, fromServer: side)
    }

    /// A stream on its own, whose format is not known: nothing but its walks is remembered.
    init() {
        (format, hasStates, remembers, requestPaths) = (nil, false, false, [])
        states = ConversationStates(names: [], transitions: [], layers: [])
        sides = PerDirection(fromClient: Side(state: nil, held: nil), fromServer: Side(state: nil, held: nil))
    }

    /// The state in which the frame at an offset is; nil if unknown.
    func state(of direction: Direction, at offset: Int) -> Int? {
        let side = sides[direction]
        if let held = side.held, held.offset == offset { return held.state }
        return side.state
    }

    /// Whether nothing was seen of the other side, which may have changed this one's state.
    func isAlone(_ direction: Direction) -> Bool { !sides[direction.opposite].hasFrames }

    /// The values of the request that the server's next frame answers.
    var request: StructureScope { requests.first ?? StructureScope() }

    /// A frame is not complete yet.
    ///
    /// - Parameter offset: where it began; nil if there is none.
    func holds(_ direction: Direction, from offset: Int?) {
        if sides[direction].held?.offset == offset { return }
        sides[direction].held = offset.map { ($0, sides[direction].state) }
    }

    // MARK: Encoded streams

    /// Whether a state encodes a direction's stream.
    func encodes(_ direction: Direction) -> Bool { states.layers.contains { !$0[direction].isEmpty } }

    /// How a direction's stream is encoded, by its state: for people.
    func encoding(of direction: Direction) -> String {
        let names = sides[direction].state.map { states.encodings($0, direction).map { type(of: $0).name } } ?? []
        return names.isEmpty ? "what is encoded" : names.joined(separator: ", ")
    }

    /// Whether the frame at an offset is encoded in a way that is not removed yet.
    func isEncoded(_ direction: Direction, at offset: Int) -> Bool {
        guard !states.layers.isEmpty, let state = state(of: direction, at: offset) else { return false }
        return states.encodings(state, direction).count > sides[direction].layers
    }

    /// Whether the frames of a state may be among a direction's bytes as they are decoded now.
    func isReadable(_ state: Int, _ direction: Direction) -> Bool {
        states.layers.isEmpty || states.encodings(state, direction).count <= sides[direction].layers
    }

    /// Whether the framer stops at an offset, so that what follows is decoded.
    func handsOver(_ direction: Direction, at offset: Int) -> Bool {
        removesLayers[direction] && sides[direction].undecodable == nil && isEncoded(direction, at: offset)
    }

    /// Why nothing can be framed at an offset; nil if something can.
    func undecodable(_ direction: Direction, at offset: Int) -> String? {
        if let reason = sides[direction].undecodable { return reason }
        guard isEncoded(direction, at: offset) else { return nil }
        return "\(encoding(of: direction)), which is not decoded here"
    }

    /// Bytes that a framer has not framed.
    enum HandedOver {
        /// So many at the end of the chunk that it was given.
        case end(Int)
        /// Some of which it had been given before.
        case bytes([UInt8])
    }

    /// Takes what a framer has not framed.
    func handOver(_ rest: HandedOver, _ direction: Direction) {
        sides[direction].handedOver = rest
        memories[direction].forget()
    }

    func takeHandedOver(_ direction: Direction) -> HandedOver? { sides[direction].handedOver.take() }

    /// The layers that a direction's state needs, in addition to those it has.
    func newLayers(_ direction: Direction) throws(StreamLayerFault) -> [any StreamLayer] {
        guard let state = sides[direction].state else { return [] }
        var layers: [any StreamLayer] = []
        for encoding in states.encodings(state, direction).dropFirst(sides[direction].layers) {
            layers.append(try encoding.layer())
        }
        sides[direction].layers += layers.count
        return layers
    }

    /// An encoded stream has ended: `count` layers remain.
    func lostLayers(_ direction: Direction, to count: Int) { sides[direction].layers = count }

    func giveUp(_ direction: Direction, _ reason: String) { sides[direction].undecodable = reason }

    /// Bytes of a side were not seen: they may have changed its state.
    func lost(_ direction: Direction) {
        if hasStates { sides[direction].state = nil }
        if wantsRequests { (requests, moreRequests) = ([], 0) }
        memories[direction].lost()
    }

    /// A frame is complete.
    ///
    /// - Parameter bytes: its bytes; of a streamed body only the first.
    func completed(_ bytes: RawSpan, _ frame: FrameInfo, from direction: Direction) {
        guard hasStates || wantsRequests || remembers, let side = format?.directions[direction] else { return }
        if remembers { remember(bytes, frame, from: direction, side) }
        sides[direction].hasFrames = true
        let found = (side.rule as? StateRule)?.state(of: frame.shape)
        if let found, sides[direction].state == nil || found != sides[direction].state && isAlone(direction) {
            // What a frame shows of its own side holds for the other one, unless that has shown otherwise.
            sides[direction].state = found
            if sides[direction.opposite].state == nil { sides[direction.opposite].state = found }
        }
        // A gap is in the body, never in the head.
        side.withContent(of: bytes, frame.partsAtHand) { content, shape in
            follow(content, shape, frame, from: direction, side)
        }
    }

    /// A frame leaves values for those after it.
    private func remember(_ bytes: RawSpan, _ frame: FrameInfo, from direction: Direction, _ side: DirectionFormat) {
        guard let rule = side.layouts[frame.shape.layout].rule as? Structured, rule.remembering != nil else { return }
        side.withContent(of: bytes, frame.partsAtHand) { content, shape in
            let values = FrameValues(info: frame, direction: direction)
            rule.remember(content, frame.shape, in: memories[direction]) { path in
                // Of a body with a gap, only the length is known.
                frame.missing > 0 ? .absent : values.value(at: path, content: content, shape: shape, format: side)
            }
        }
    }

    private func follow(
        _ content: RawSpan, _ shape: FrameShape, _ frame: FrameInfo, from direction: Direction, _ side: DirectionFormat
    ) {
        var values = FrameValues(info: frame, direction: direction)
        if direction == .fromServer { values.request = request }
        if wantsRequests { count(content, shape, from: direction, side) }
        guard let state = sides[direction].state else { return }
        for transition in states.transitions where transition.from.isEmpty || transition.from.contains(state) {
            if frame.missing > 0, transition.dependsOnBody { continue }
            guard values.fulfil(transition.condition, content: content, shape: shape, format: side) else { continue }
            for other in Direction.allCases where transition.side ?? other == other {
                sides[other].state = transition.to
            }
            sides[direction].held = nil
            return
        }
    }

    /// Remembers a request, or that one was answered.
    private func count(
        _ content: RawSpan, _ shape: FrameShape, from direction: Direction, _ side: DirectionFormat
    ) {
        guard direction == .fromClient else {
            if side.rule.isInterim(content, shape) { return }
            if !requests.isEmpty { requests.removeFirst() } else { moreRequests = max(0, moreRequests - 1) }
            return
        }
        // After one that is not remembered, none is: answers come in the order of their requests.
        guard moreRequests == 0, requests.count < Self.mostRequests else {
            moreRequests += 1
            return
        }
        var scope = StructureScope()
        for path in requestPaths where path.count > 1 {
            let value = side.field(path[1], of: content, shape).flatMap { field -> FieldValue? in
                guard path.count > 2 else { return field }
                guard case .json(let text) = field else { return nil }
                return FieldValue.inside(text, at: path.dropFirst(2))
            }
            if let value, value.plainText?.utf8.count ?? 0 <= Self.longestValue { scope.add(path, Value(value)) }
        }
        requests.append(scope)
    }
}

extension Format {
    /// A direction's rule in a conversation.
    package func rule(_ direction: Direction, in conversation: Conversation?) -> any FramingRule {
        let rule = directions[direction].rule
        return conversation.flatMap { rule.bound(to: $0, direction) } ?? rule
    }

    /// The framers of a connection.
    ///
    /// - Parameter aligned: whether it is known to begin with a frame in each direction.
    package func framers(aligned: Bool = true) -> PerDirection<Framer> {
        let conversation = Conversation(self, aligned: aligned)
        func framer(_ direction: Direction) -> Framer {
            Framer(
                SharedRule.of(rule(direction, in: conversation), conversation: conversation), direction: direction,
                aligned: aligned)
        }
        return PerDirection(fromClient: framer(.fromClient), fromServer: framer(.fromServer))
    }
}

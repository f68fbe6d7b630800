import Framing
import Streams

/// A connection as a trace knows it.
///
/// A connection in which nothing happens for long may be another object when something happens again, unless you keep this one. So tell
/// connections apart by their numbers and legs (`connectionLeg`), not by identity.
public final class TracedConnection {
    /// How it began.
    public var opening: Opening { start.opening }
    private let start: CompactOpening
    /// Its format; nil while unknown, or if none was recognised.
    public var format: Format? { known?.format }
    /// How the format was chosen; nil while unknown.
    public var choice: FormatChoice? { chosen?.choice }
    /// The same, as connections of one format share it.
    package private(set) var chosen: SharedChoice?

    /// The kinds of a side's frames; nil while its format is unknown.
    package func kinds(of direction: Direction) -> FrameKinds? {
        direction == .fromClient ? known?.kinds.fromClient : known?.kinds.fromServer
    }

    /// What it shares with other connections of its format: to ask for a part of that, this is faster than `format`, which is copied.
    // Every frame asks for it, and setting it calls nothing.
    @exclusivity(unchecked) package private(set) var known: KnownFormat?
    /// Tells formats apart: to ask for it counts no reference. Nil while its format is unknown.
    package var knownID: ObjectIdentifier? { known.map { ObjectIdentifier($0) } }
    /// How many bodies were faulty; known when the connection is over.
    package var faults: PerDirection<FaultCounts> {
        get { counted?.faults ?? PerDirection(fromClient: FaultCounts(), fromServer: FaultCounts()) }
        set { counted = CountedFaults(newValue) }
    }
    private var counted: CountedFaults?
    /// The traffic so far. Nothing called while it changes re-enters it.
    @exclusivity(unchecked) package var traffic = PerDirection(
        fromClient: Traffic(), fromServer: Traffic())
    /// Whether it began like conversations of its format: if not, the format's rules for heartbeats and requests do not apply.
    package var hasBegun: Bool {
        get { begun }
        set { begun = newValue }
    }
    // Every frame asks for it, and paired ones for `skipsPairs`. Private: other modules do not see the attribute.
    @exclusivity(unchecked) private var begun = true
    /// Whether each side sent any bytes; known when the connection is over.
    package var hadBytes = PerDirection(fromClient: false, fromServer: false)
    /// Notified of segments during pauses; rarely set.
    package var witnesses: [any SegmentWitness] = []
    /// Whether its requests and answers are no longer paired.
    package var skipsPairs: Bool {
        get { skipped }
        set { skipped = newValue }
    }
    @exclusivity(unchecked) private var skipped = false
    /// Whether each side sent a heartbeat; known when the connection is over.
    package var hadHeartbeats = PerDirection(fromClient: false, fromServer: false)

    /// A connection whose format is still unknown.
    package init(_ opening: Opening) {
        start = CompactOpening(opening)
    }

    /// Its number, from 1.
    public var number: Int { start.number }
    /// Which leg of the connection this is; nil if it has only one.
    public var leg: Leg? { start.leg }
    /// Its number, and which leg it is.
    public var connectionLeg: ConnectionLeg { ConnectionLeg(start.number, start.leg) }

    /// The type of one of its frames, as its format names it; nil if it has no name for it, or the connection has no format.
    ///
    /// - Parameter bytes: the bytes that the sink received with it.
    public func type(of frame: TracedFrame, _ bytes: RawSpan) -> String? {
        kinds(of: frame.direction)?.type(of: frame, bytes)
    }

    /// Whether something has disturbed the arrival of bytes.
    package var isDisturbed: Bool {
        traffic.fromClient.disturbances != nil || traffic.fromServer.disturbances != nil
    }

    /// Adds a number of complete frames of a side.
    package func count(_ frames: Int, from direction: Direction, at time: Timestamp) {
        if direction == .fromClient {
            traffic.fromClient.add(frames, at: time)
        } else {
            traffic.fromServer.add(frames, at: time)
        }
    }

    /// Whether a few numbers and its format say all there is to know of it (`init(_:_:_:)`). What is known only when a connection is
    /// over, none that rests has.
    package var isResting: Bool {
        leg == nil && counted == nil && witnesses.isEmpty && !isDisturbed
    }

    /// Packs a resting connection.
    package func pack(into numbers: inout PackedNumbers) {
        var opening = opening
        opening.pass(through: &numbers)
        pass(through: &numbers)
    }

    /// A connection as it was when it was packed.
    package init(_ numbers: inout PackedNumbers, _ format: KnownFormat?, _ choice: SharedChoice?) {
        var opening = Opening.unknown
        opening.pass(through: &numbers)
        start = CompactOpening(opening)
        (known, chosen) = (format, choice)
        pass(through: &numbers)
    }

    /// Packs or unpacks what is known of a resting connection, besides how it began and its format.
    private func pass(through numbers: inout PackedNumbers) {
        // Copies: what is passed on by reference would be checked for exclusivity wherever it is used.
        var (traffic, begun) = (traffic, begun)
        traffic.fromClient.pass(through: &numbers)
        traffic.fromServer.pass(through: &numbers)
        numbers.pass(&begun)
        numbers.pass(&skipsPairs)
        (self.traffic, self.begun) = (traffic, begun)
    }

    /// Sets the format.
    package func recognise(_ format: Format?, _ choice: FormatChoice) {
        chosen = SharedChoice(choice)
        known = format.map { KnownFormat($0) }
    }

    /// Sets the format, and what is known of its frames from other connections.
    package func recognise(_ format: KnownFormat, _ choice: FormatChoice) {
        chosen = format.shared(choice)
        known = format
    }
}

/// The counts of a closed connection: while it is open, they take no memory.
private final class CountedFaults {
    let faults: PerDirection<FaultCounts>

    init(_ faults: PerDirection<FaultCounts>) { self.faults = faults }
}

/// A format, and what is known of the frames of all its connections.
package final class KnownFormat {
    /// The format.
    package let format: Format
    /// The kinds of frames of each side.
    package let kinds: PerDirection<FrameKinds>

    /// What its connections' heartbeats have to fulfil; nil if there is nothing.
    package let heartbeat: SharedContract?

    /// A format of which no frame has been seen.
    package init(_ format: Format) {
        self.format = format
        heartbeat = format.heartbeat.map { SharedContract($0) }
        kinds = PerDirection(fromClient: FrameKinds(format, .fromClient), fromServer: FrameKinds(format, .fromServer))
    }

    /// How the format was chosen for the last connection: for the next it is usually the same.
    private var lastChoice: SharedChoice?
    /// How it was chosen for the first ones. The evidence may be a part of the bytes, and different each time.
    private var choices: [FormatChoice: SharedChoice] = [:]

    fileprivate func shared(_ choice: FormatChoice) -> SharedChoice {
        if let lastChoice, lastChoice.choice == choice { return lastChoice }
        let shared = choices[choice] ?? SharedChoice(choice)
        if choices.count < 64 { choices[choice] = shared }
        lastChoice = shared
        return shared
    }
}

/// A contract for heartbeats shared by many connections: it is large.
package final class SharedContract {
    /// The contract.
    package let contract: HeartbeatContract

    /// A contract to share.
    package init(_ contract: HeartbeatContract) { self.contract = contract }
}

/// A choice shared by many connections.
package final class SharedChoice {
    let choice: FormatChoice

    init(_ choice: FormatChoice) { self.choice = choice }
}

/// How a connection's format was chosen.
public struct FormatChoice: Hashable, Sendable {
    /// The ways to choose.
    public enum Way: String, Sendable, CaseIterable {
        /// By the bytes' content.
        case content
        /// By the server's port.
        case port
        /// As requested.
        case option
    }

    /// How it was chosen.
    public var by: Way
    /// Human-readable: the evidence for it.
    public var evidence: String

    /// How a connection's format was chosen.
    public init(by: Way, evidence: String) {
        self.by = by
        self.evidence = evidence
    }
}

import Streams
import TLS

/// Receives a connection's streams after its TLS was removed, or unchanged if it has none or cannot be decrypted.
package protocol FilteredReceiver: AnyObject {
    /// The next bytes of a direction.
    func passed(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int)
    /// The next bytes of a direction are not known.
    func passedMissing(_ byteCount: Int, from direction: Direction, at time: Timestamp)
    /// A direction ended.
    func passedEnd(_ ending: Ending, from direction: Direction, at time: Timestamp)
    /// Something about TLS.
    func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int)
}

/// Removes TLS from the streams of one connection that begins with it.
///
/// Until it is known whether there are keys, the streams are held: a handshake's length, at most `heldLimit` bytes. Without keys
/// they are then passed on as they are, and the handshake is still followed for what can be seen of it.
package final class TLSFilter {
    /// At most how many bytes are held until it is known whether they can be decrypted.
    package static let heldLimit = 128 << 10

    private enum State {
        /// The streams are held, until it is known whether they begin as TLS does.
        case beginning
        /// The streams are held.
        case undecided
        case decrypting
        /// The streams are passed on as they are.
        case passing
    }

    private let keys: TLSKeys
    private let isExpected: Bool
    /// Whether the streams begin with their first byte.
    private let isWhole: Bool
    private unowned let receiver: any FilteredReceiver
    private let describe: (@Sendable ([UInt8]) -> TLSFacts.Certificate?)?
    private var state: State
    /// The first bytes of the direction that has any.
    private var first: (direction: Direction, bytes: [UInt8])?
    private var connection = TLSConnection()
    private var held = StreamEventBuffer()
    /// How much plaintext was lost while the streams are held: before all that is passed on once they are decrypted.
    private var losses = TLSFilter.noLosses
    private var facts = TLSFacts()
    private var isReported = false
    /// Whether the streams are known not to be TLS: nothing is looked for in them.
    private var isForeign = false
    private var random: ClientRandom?
    /// Ends that are not passed on yet.
    private var ends: [(ending: Ending, direction: Direction, time: Timestamp)] = []
    private var isReset = false
    private var hasFinished = PerDirection(fromClient: false, fromServer: false)
    /// When the event being taken happened, and in which packet.
    private var now = Arrival()
    /// When what is being read was received: before `now`, if it waited for the other direction.
    private var arrival = Arrival()
    /// Whether a handshake message was decrypted: what is not decrypted then is lost, the connection is not.
    private var haveKeysFit = false
    /// Whether the key log was read again during the event being taken.
    private var hasLooked = false
    /// What is wrong with the handshake, as far as it is reported: hostile bytes may repeat it without end.
    private var faults: Set<String> = []

    private static var noLosses: PerDirection<(bytes: Int, time: Timestamp)> {
        let none = (bytes: 0, time: Timestamp(nanoseconds: 0))
        return PerDirection(fromClient: none, fromServer: none)
    }

    /// A filter of a connection.
    ///
    /// - Parameters:
    ///   - isWhole: whether the streams begin with their first byte; otherwise they may begin with any record.
    ///   - isExpected: whether the two sides have agreed on TLS: anything else is an error.
    ///   - describe: reads a certificate in DER.
    ///   - receiver: receives the result; it owns this filter.
    package init(
        _ keys: TLSKeys, isWhole: Bool, isExpected: Bool = false,
        describe: (@Sendable ([UInt8]) -> TLSFacts.Certificate?)? = nil,
        to receiver: any FilteredReceiver
    ) {
        (self.keys, self.describe, self.receiver) = (keys, describe, receiver)
        self.isExpected = isExpected
        self.isWhole = isWhole
        state = isExpected ? .undecided : .beginning
    }

    /// Whether the first bytes of a connection may be a TLS record's header (RFC 8446 section 5.1).
    ///
    /// - Parameter isWhole: whether they are the streams' first bytes: a handshake begins with a handshake record.
    @inline(__always)
    package static func mayBegin(with bytes: RawSpan, isWhole: Bool) -> Bool {
        let first = bytes[unchecked: 0]
        return (isWhole ? first == 22 : (20...23).contains(first)) && isPlausible(bytes)
    }

    @inline(never)
    private static func isPlausible(_ bytes: RawSpan) -> Bool {
        (bytes.byteCount < 2 || bytes[byte: 1] == 3) && (bytes.byteCount < 3 || bytes[byte: 2] <= 4)
    }

    /// Whether streams that were picked up mid-stream begin with the header of any record, however it was cut.
    private static func beginningAnywhere(_ bytes: RawSpan) -> TLSBeginning {
        guard mayBegin(with: bytes, isWhole: false) else { return .notTLS }
        return bytes.byteCount < 3 ? .undecided : .tls
    }

    /// Whether the streams are passed on as they are.
    package var isPassing: Bool { state == .passing }

    /// Approximately how much memory `giveUp` frees; 0 once the streams are decrypted, and while bytes are being taken.
    private(set) var heldMemory = 0

    private func countMemory() {
        let events = held.events.count * MemoryLayout<StreamEventBuffer.Event>.stride
        heldMemory = isForeign || state == .decrypting ? 0 : held.bytes.count + events + connection.heldBytes
    }

    /// Passes on what is held, and follows the handshake no further.
    func giveUp() {
        guard state != .decrypting else { return }
        if state == .beginning { state = .undecided }
        isForeign = true
        connection = TLSConnection()
        heldMemory = 0
        pass()
    }

    // MARK: Stream events

    /// The next bytes of a direction.
    package func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
        heldMemory = 0
        take(bytes, from: direction, at: time, packet: packet)
        countMemory()
    }

    private func take(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
        begin(time, packet: packet)
        if state == .beginning { return begin(bytes, direction) }
        if isForeign { return receiver.passed(bytes, from: direction, at: time, packet: packet) }
        if state == .undecided {
            held.events.append(held.receive(bytes, direction, 0, time, packet: packet))
        } else if state == .passing {
            receiver.passed(bytes, from: direction, at: time, packet: packet)
        }
        // A program may write its secrets after its hello was captured.
        if state == .undecided, let random { keys.look(for: random) }
        count(direction.opposite)
        connection.receive(bytes, from: direction, at: now, keys: keys.log, into: self)
        if held.bytes.count > Self.heldLimit { decide() }
        passEnds()
    }

    /// An event is taken from now on.
    private func begin(_ time: Timestamp, packet: Int) {
        now = Arrival(at: time, packet: packet)
        (arrival, hasLooked) = (now, false)
    }

    /// Judges the first bytes of the connection.
    private func begin(_ bytes: RawSpan, _ direction: Direction) {
        held.events.append(held.receive(bytes, direction, 0, now.time, packet: now.packet))
        var first = first ?? (direction, [])
        if first.direction == direction { first.bytes.append(contentsOf: bytes.extracting(first: 16)) }
        self.first = first
        let beginning =
            isWhole ? TLSBeginning(first.bytes.span.bytes) : Self.beginningAnywhere(first.bytes.span.bytes)
        switch beginning {
        case .undecided:
            guard held.bytes.count > Self.heldLimit else { return }
            state = .undecided
            pass()
        case .notTLS:
            isForeign = true
            state = .undecided
            pass()
        case .tls, .unsupported: follow()
        }
    }

    /// It is TLS: what is held is the beginning.
    private func follow() {
        state = .undecided
        let (events, bytes) = (held.events, held.bytes)
        held = StreamEventBuffer()
        for event in events {
            switch event.kind {
            case .received:
                take(
                    bytes.span.bytes.extracting(event.place..<event.place + event.count), from: event.direction,
                    at: event.time, packet: event.packet)
            case .missing: miss(event.count, from: event.direction, at: event.time)
            case .finished: finish(event.ending, from: event.direction, at: event.time)
            case .opened, .closed, .advanced, .learned, .noticed: continue
            }
        }
    }

    /// The next bytes of a direction were not seen.
    package func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
        heldMemory = 0
        miss(byteCount, from: direction, at: time)
        countMemory()
    }

    private func miss(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
        begin(time, packet: 0)
        if isForeign { return receiver.passedMissing(byteCount, from: direction, at: time) }
        if state == .beginning { first = first ?? (direction, []) }
        if state == .beginning, first?.direction == direction {
            // What begins after a gap may be anything.
            state = .undecided
            pass()
        }
        if state == .beginning || state == .undecided {
            held.events.append(.missing(byteCount, direction, 0, time))
            if state == .beginning { return }
        } else if state == .passing {
            receiver.passedMissing(byteCount, from: direction, at: time)
        }
        connection.missing(byteCount, from: direction, at: now, keys: keys.log, into: self)
    }

    /// A direction ended.
    package func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {
        heldMemory = 0
        finish(ending, from: direction, at: time)
        countMemory()
    }

    private func finish(_ ending: Ending, from direction: Direction, at time: Timestamp) {
        begin(time, packet: 0)
        if isForeign { return receiver.passedEnd(ending, from: direction, at: time) }
        if state == .beginning {
            held.events.append(.finished(ending, direction, 0, time))
            if first?.direction == direction {
                state = .undecided
                pass()
            }
            return
        }
        isReset = ending == .reset
        hasFinished[direction] = true
        connection.finish(from: direction, at: now, keys: keys.log, into: self)
        switch state {
        case .beginning, .undecided: held.events.append(.finished(ending, direction, 0, time))
        case .passing: receiver.passedEnd(ending, from: direction, at: time)
        case .decrypting: ends.append((ending, direction, time))
        }
        passEnds()
    }

    /// Passes on the ends of directions all of whose records were decrypted: some wait for the other direction's hello.
    private func passEnds() {
        guard state == .decrypting, !ends.isEmpty else { return }
        let waiting = ends
        ends = []
        for end in waiting {
            if connection.isHolding(from: end.direction) {
                ends.append(end)
            } else {
                receiver.passedEnd(end.ending, from: end.direction, at: end.time)
            }
        }
    }

    /// The connection is over: what is still held is passed on.
    package func closed(at time: Timestamp) {
        begin(time, packet: 0)
        heldMemory = 0
        if isForeign { return }
        if state == .beginning { state = .undecided }
        // What waits for the other direction does not come any more.
        for direction in Direction.allCases where !hasFinished[direction] {
            connection.finish(from: direction, hasEnded: false, at: now, keys: keys.log, into: self)
        }
        decide()
        for end in ends { receiver.passedEnd(end.ending, from: end.direction, at: end.time) }
        ends = []
    }

    // MARK: Deciding

    /// No more is going to be known: what was decrypted so far tells whether the streams are.
    private func decide() {
        if haveKeysFit { decrypt() } else { pass() }
    }

    /// The streams are passed on as they are, from their beginning.
    private func pass() {
        guard state == .undecided else { return }
        state = .passing
        reportFacts()
        let (events, bytes) = (held.events, held.bytes)
        held = StreamEventBuffer()
        losses = Self.noLosses
        for event in events {
            switch event.kind {
            case .received:
                receiver.passed(
                    bytes.span.bytes.extracting(event.place..<event.place + event.count), from: event.direction,
                    at: event.time, packet: event.packet)
            case .missing: receiver.passedMissing(event.count, from: event.direction, at: event.time)
            case .finished: receiver.passedEnd(event.ending, from: event.direction, at: event.time)
            case .opened, .closed, .advanced, .learned, .noticed: continue
            }
        }
    }

    /// From now on only plaintext is passed on.
    private func decrypt() {
        guard state == .undecided else { return }
        state = .decrypting
        facts.decryption = .keys
        reportFacts()
        ends = held.events.filter { $0.kind == .finished }.map { ($0.ending, $0.direction, $0.time) }
        held = StreamEventBuffer()
        for direction in Direction.allCases where losses[direction].bytes > 0 {
            receiver.passedMissing(losses[direction].bytes, from: direction, at: losses[direction].time)
        }
        losses = Self.noLosses
    }

    /// Notes what a direction has sent so far, until that is reported.
    private func count(_ direction: Direction) {
        guard !isReported, !connection.isHolding(from: direction) else { return }
        let counts = connection.counts(from: direction)
        facts.handshake[direction] = TLSFacts.Handshake(records: counts.records, bytes: counts.wireBytes)
    }

    private func reportFacts(evenIfUnknown: Bool = false) {
        guard !isReported, evenIfUnknown || !facts.offeredVersions.isEmpty || facts.version != nil else { return }
        isReported = true
        receiver.noticed(.tls(facts), from: .fromServer, at: now.time, packet: now.packet)
    }

    private func notice(_ notice: StreamNotice, from direction: Direction) {
        receiver.noticed(notice, from: direction, at: now.time, packet: now.packet)
    }

    /// Reports what is wrong with the handshake, once.
    private func reportFault(_ text: String, from direction: Direction) {
        if faults.insert(text).inserted { notice(.tlsFault(text), from: direction) }
    }
}

extension TLSFilter: TLSReceiver {
    /// Passes plaintext on.
    package func plaintext(_ bytes: RawSpan, from direction: Direction) {
        decrypt()
        if state == .decrypting { receiver.passed(bytes, from: direction, at: arrival.time, packet: arrival.packet) }
    }

    /// Passes on that plaintext is lost, or notes it until it is known whether there will be any.
    package func lost(plaintextBytes: Int, isExact: Bool, records: Int, from direction: Direction) {
        guard plaintextBytes > 0 else { return }
        switch state {
        case .decrypting: receiver.passedMissing(plaintextBytes, from: direction, at: arrival.time)
        case .undecided: losses[direction] = (losses[direction].bytes + plaintextBytes, arrival.time)
        case .beginning, .passing: break
        }
    }

    /// Notes when what is read next was received.
    package func reads(_ arrival: Arrival) { self.arrival = arrival }

    /// Notes what a direction has sent so far, until that is reported.
    package func reads(record number: Int, endingAt offset: Int, from direction: Direction) {
        // A direction that has to wait has sent more than is read.
        guard !isReported, offset > facts.handshake[direction].bytes else { return }
        facts.handshake[direction] = TLSFacts.Handshake(records: number, bytes: offset)
    }

    /// Reads what a key log has gained, once an event.
    package func moreKeys() -> KeyLog? {
        guard keys.isFollowed, state != .passing else { return nil }
        if !hasLooked { keys.look() }
        hasLooked = true
        return keys.log
    }

    /// Gathers what the handshake shows, and reports what breaks.
    package func event(_ event: TLSEvent, from direction: Direction) {
        switch event {
        case .clientHello(let hello):
            random = hello.random
            guard !isReported else { return }
            let (decryption, handshake) = (facts.decryption, facts.handshake)
            facts = TLSFacts(hello, by: decryption)
            facts.handshake = handshake
        case .negotiated(let negotiation):
            facts.version = "\(negotiation.version)"
            facts.cipherSuite = "\(negotiation.cipherSuite)"
            facts.applicationProtocol = negotiation.applicationProtocol
            facts.isResumed = negotiation.isResumed ?? false
        case .certificate(let chain):
            if direction == .fromServer, let leaf = chain.first { facts.certificate = describe?(leaf) }
            // It is encrypted: the keys fit.
            if facts.version == "\(ProtocolVersion.tls13)" { decrypt() }
        case .keysFit: haveKeysFit = true
        case .keysMissing(let random, let label):
            if hasSecrets(of: direction.opposite, random) { decrypt() }
            decide()
            if state == .decrypting {
                notice(.tlsKeysMissing(clientRandom: "\(random)", label: label.rawValue), from: direction)
            } else if keys.isRequested {
                notice(.tlsKeysMissing(clientRandom: "\(random)"), from: .fromClient)
            }
        case .applicationDataBegins(let offset, let records):
            if !isReported { facts.handshake[direction] = TLSFacts.Handshake(records: records, bytes: offset) }
        case .alert(let alert, let isEncrypted):
            if isEncrypted { decrypt() }
            guard alert.isFatal, !alert.isCloseNotify else { return }
            reportAlert("the \(direction.sender) sent the alert \(alert.name)", alert, from: direction)
        case .alertSuspected:
            notice(
                .tlsFault(
                    "the client ended with what is probably an alert: it refused the server's certificate, or pins another"
                ),
                from: direction)
        case .decryptionFailed(let failure):
            let random = failure.clientRandom.map { "; its client random is \($0)" } ?? ""
            notice(
                .tlsFault("TLS record \(failure.record) from the \(direction.sender): \(failure.reason)\(random)"),
                from: direction)
            // The keys are wrong if they never fitted.
            decide()
        case .truncated(let truncation):
            if case .withoutCloseNotify = truncation, isReset { return }
            if facts.version != nil { notice(.tlsTruncated, from: direction) }
        case .unsupported(let name):
            if isExpected || !facts.offeredVersions.isEmpty {
                reportFault("not decrypted: \(name)", from: direction)
            }
            decide()
        case .withoutHello:
            reportFacts(evenIfUnknown: true)
            // What begins with a gap may be anything, and is passed on already.
            guard state == .undecided else { return }
            pass()
            if keys.isRequested { notice(.tlsKeysMissing(clientRandom: nil), from: .fromClient) }
        case .helloRetryRequest, .certificateRequested, .unreadableAlert, .earlyDataSkipped, .keyUpdated,
            .renegotiated:
            return
        }
    }

    /// Whether any secret of a direction alone is known, as TLS 1.3 has them.
    private func hasSecrets(of direction: Direction, _ random: ClientRandom) -> Bool {
        let labels: [KeyLogLabel] =
            direction == .fromClient
            ? [.clientHandshakeTrafficSecret, .clientTrafficSecret0]
            : [.serverHandshakeTrafficSecret, .serverTrafficSecret0]
        return labels.contains { keys.log.secret($0, for: random) != nil }
    }

    private func reportAlert(_ text: String, _ alert: Alert, from direction: Direction) {
        let isRefusal = direction == .fromClient && ((42...46).contains(alert.code) || alert.code == 48)
        let hint = isRefusal ? ": it does not trust the server's certificate, or pins another" : ""
        decide()
        reportFault(text + hint, from: direction)
    }
}

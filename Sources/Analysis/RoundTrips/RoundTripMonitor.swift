import DequeModule
import Framing
import Streams
import Trace

/// Matches answers to their requests, by the format's pairings: finds requests without answer, answers without request, and
/// answers that arrive before an older request's.
///
/// Only connections with a waiting request or a finding take memory, and a few others. What waits is limited for each bucket of hosts:
/// beyond that, a connection's own is forgotten. If bytes are missing or belong to no frame, waiting requests are forgotten: they may
/// have been answered.
package final class RoundTripMonitor: Analysis {
    // Nothing that is called while one of these changes can reach it: round trips are recorded between changes. So there is no need
    // to check for that on every request and answer.
    @exclusivity(unchecked) private var connections: [Int: PairedConnection] = [:]
    /// Those looked up lately, by the low bits of their number.
    @exclusivity(unchecked) private var recent = [PairedConnection?](repeating: nil, count: 256)
    /// When an answer on a connection may be overdue, by its number.
    @exclusivity(unchecked) private var deadlines = PendingDeadlines<Int>()
    /// How many requests and answers wait, in each bucket of hosts.
    private var waiting = [Int](repeating: 0, count: HostBuckets.count)
    /// How many may, in each.
    private let mostWaiting: Int
    /// Notified of each round trip.
    private let record: ((RoundTrip) -> Void)?

    /// A request and its answer.
    package struct RoundTrip: Sendable {
        /// The connection's number.
        package var connection: Int
        /// The format's name.
        package var format: String
        /// The request's type.
        package var request: String?
        /// The answer's type.
        package var answer: String?
        /// Who asked.
        package var from: Direction
        /// When the request's last byte was seen.
        package var requested: Timestamp
        /// From then to the answer's last byte.
        package var time: Interval
        /// The request's place among the frames of its direction, from 0.
        package var requestIndex: Int
        /// The answer's.
        package var answerIndex: Int
    }

    /// A monitor that has seen nothing.
    ///
    /// - Parameters:
    ///   - mostWaiting: how many requests and answers may wait in each bucket of hosts, but for a few of each connection.
    ///   - record: notified of each round trip, if given.
    package init(mostWaiting: Int = 16_384, record: ((RoundTrip) -> Void)? = nil) {
        (self.mostWaiting, self.record) = (mostWaiting, record)
    }

    /// How many connections it remembers, and how many requests and answers.
    package var remembered: (connections: Int, waiting: Int) { (connections.count, waiting.reduce(0, +)) }

    /// The earliest time at which an answer may be overdue.
    package var nextDeadline: Timestamp? { deadlines.first }

    /// How many deadlines are pending, stale entries included.
    package var pendingDeadlines: Int { deadlines.entries }

    /// Requests and answers.
    package func interest(in format: Format) -> FrameInterest { format.allPairings.isEmpty ? [] : .paired }

    /// Takes a request, or an answer.
    package func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let kinds = connection.kinds(of: frame.direction) else { return }
        let roles = kinds.roles(frame.kind, frame.info, bytes, frame.shape)
        guard !roles.isEmpty, let paired = paired(connection) else { return }
        paired.synchronise()
        let type = kinds.type(of: frame, bytes)
        for role in roles {
            let place = paired.idPlaces[role.pairing]
            var value: FieldValue?
            if role.isRequest || paired.matching[role.pairing] == .value {
                value = kinds.format.value(at: place, of: bytes, frame.shape, body: frame.body)
            }
            // A frame without the identifying value is neither a request nor an answer.
            guard let key = Self.key(paired.matching[role.pairing], type, value, bytes, frame.shape) else {
                continue
            }
            // Requests alone have an id, unless it is secret.
            if !role.isRequest || value != nil && FrameSecrets.hide(place, of: frame, bytes, kinds) { value = nil }
            let waiting = PairedConnection.Waiting(
                key: key, id: value?.identifying, time: frame.info.time, index: frame.info.index,
                packet: frame.info.packet, type: type)
            if role.isRequest {
                ask(waiting, role.pairing, on: paired)
            } else {
                answer(waiting, role.pairing, on: paired, into: &findings)
            }
        }
        account(paired)
        expectDeadline(of: paired)
    }

    private func paired(_ connection: TracedConnection) -> PairedConnection? {
        if let known = recent[connection.number & 255], known.connection === connection { return known }
        return lookUp(connection)
    }

    @inline(never)
    private func lookUp(_ connection: TracedConnection) -> PairedConnection? {
        var paired = connections[connection.number]
        if paired == nil, let format = connection.format {
            paired = PairedConnection(connection, format)
            connections[connection.number] = paired
        }
        if let paired {
            if let former = recent[connection.number & 255] { forget(former) }
            recent[connection.number & 255] = paired
        }
        return paired
    }

    /// Frees the memory of a connection on which nothing waits; its next request begins anew.
    private func forget(_ paired: PairedConnection) {
        guard paired.isIdle else { return }
        connections[paired.connection.number] = nil
        deadlines.cancel(paired.connection.number)
    }

    /// Takes into account what waits on a connection now. If that is too much in its bucket, the connection loses its own: at first what
    /// is overdue.
    private func account(_ paired: PairedConnection) {
        let bucket = paired.bucket
        waiting[bucket] += paired.settle()
        guard waiting[bucket] > mostWaiting, paired.accounted > PairedConnection.fewWaiting else { return }
        // What was reported as unanswered is mostly never answered.
        if paired.forgetOverdue() == 0 { paired.lose() }
        waiting[bucket] += paired.settle()
    }

    /// What request and answer have in common; nil if the frame lacks it.
    ///
    /// - Parameter value: the value that both must have, for pairings by value.
    private static func key(
        _ matching: PairedConnection.Matching, _ type: String?, _ value: FieldValue?, _ bytes: RawSpan,
        _ shape: FrameShape
    ) -> PairedConnection.Key? {
        switch matching {
        case .order: .order
        case .type: .type(type)
        case .value: value.flatMap { ContentIdentity($0) }.map { .value($0) }
        case .body: .value(ContentIdentity(bytes.extracting(shape.head..<shape.head + shape.body)))
        }
    }

    private func ask(_ request: consuming PairedConnection.Waiting, _ pairing: Int, on paired: PairedConnection) {
        guard !paired.exchanges[pairing].isLost else { return }
        // A reused id refers to the new request.
        if case .value = request.key { paired.exchanges[pairing].overdue.removeAll { $0.key == request.key } }
        let disorder: Interval
        if case .value = request.key {
            disorder = PairedConnection.patience
        } else {
            disorder = PairedConnection.disorder
        }
        if let early = paired.exchanges[pairing].early.firstIndex(where: {
            $0.key == request.key && !(disorder < request.time - $0.time)
        }) {
            let answer = paired.exchanges[pairing].early.remove(at: early)
            // A request that only a pause ends is complete later than its answer. If the capture has them in reverse order, the
            // duration cannot be determined.
            if request.time <= answer.time { report(paired, pairing, request, answer) }
            return
        }
        // Its answer may have been among bytes that were lost since: a frame may be passed on after later ones.
        guard request.time >= paired.synchronised else { return }
        paired.exchanges[pairing].requests.append(request)
        // Too many requests without any answer: the other side is not in the capture, or the format is another one.
        if paired.exchanges[pairing].requests.count > PairedConnection.mostRequests { paired.lose(pairing) }
    }

    private func answer(
        _ answer: PairedConnection.Waiting, _ pairing: Int, on paired: PairedConnection, into findings: inout [Finding]
    ) {
        guard !paired.exchanges[pairing].isLost else { return }
        guard let place = paired.exchanges[pairing].requests.firstIndex(where: { $0.key == answer.key }) else {
            // The earlier requests of a connection picked up mid-stream are unknown.
            if !paired.connection.opening.handshake, paired.exchanges[pairing].requests.isEmpty { return }
            if let request = paired.takeOverdue(answer, pairing) {
                findings += paired.late(answer, to: request, pairing)
                report(paired, pairing, request, answer)
                return
            }
            if paired.pairings[pairing].isOptional { return }
            paired.exchanges[pairing].keep(early: answer)
            return
        }
        let request = paired.exchanges[pairing].requests.remove(at: place)
        if place > 0, paired.pairings[pairing].isOrdered {
            let older = paired.exchanges[pairing].requests[0]
            findings += paired.outOfOrder(answer, to: request, before: older, place, pairing)
        }
        report(paired, pairing, request, answer)
    }

    private func report(
        _ paired: PairedConnection, _ pairing: Int, _ request: PairedConnection.Waiting,
        _ answer: PairedConnection.Waiting
    ) {
        record?(
            RoundTrip(
                connection: paired.connection.number, format: paired.format,
                request: request.type, answer: answer.type, from: paired.pairings[pairing].from,
                requested: request.time, time: answer.time - request.time, requestIndex: request.index,
                answerIndex: answer.index))
    }

    private func expectDeadline(of paired: PairedConnection) {
        // One pairing's answers may be due before another's.
        guard let deadline = paired.deadline, deadline < paired.scheduled ?? .distantFuture else { return }
        paired.scheduled = deadline
        deadlines.arm(paired.connection.number, at: deadline)
    }

    /// What waits now will no longer be answered, at least not in this capture.
    package func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        guard let paired = connections.removeValue(forKey: connection.number) else { return }
        if recent[connection.number & 255] === paired { recent[connection.number & 255] = nil }
        deadlines.cancel(connection.number)
        paired.synchronise()
        findings += paired.overdue(before: PerDirection(fromClient: closing.time, fromServer: closing.time))
        findings += paired.abandoned(closing)
        findings += paired.unreported(at: closing.time)
        waiting[paired.bucket] -= paired.accounted
    }

    /// Finds the requests of a connection whose answer was due before `time`.
    package func settle(
        _ connection: TracedConnection, before known: PerDirection<Timestamp>, into findings: inout [Finding]
    ) {
        guard let paired = connections[connection.number], let deadline = paired.deadline,
            deadline < max(known.fromClient, known.fromServer)
        else { return }
        paired.synchronise()
        findings += paired.overdue(before: known)
        account(paired)
    }

    /// Finds every request whose answer was due before `time`.
    package func advance(to time: Timestamp, into findings: inout [Finding]) {
        while let due = deadlines.popFirst(before: time) {
            guard let paired = connections[due.key] else { continue }
            paired.scheduled = nil
            paired.synchronise()
            findings += paired.overdue(before: PerDirection(fromClient: time, fromServer: time))
            account(paired)
            expectDeadline(of: paired)
        }
    }
}

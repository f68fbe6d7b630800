import DequeModule
import Framing
import Streams
import Trace

/// The requests of one connection that wait for an answer.
final class PairedConnection {
    /// What request and answer have in common.
    enum Key: Hashable {
        /// Nothing: they are matched by order.
        case order
        case type(String?)
        /// An id, or the body.
        case value(ContentIdentity)
    }

    /// What they must have in common.
    enum Matching {
        case order, type, value, body

        init(_ rule: Pairing.Rule) {
            self =
                switch rule {
                case .order: .order
                case .type: .type
                case .value: .value
                case .body: .body
                }
        }
    }

    /// A request, or an answer that arrived before its request was seen.
    struct Waiting {
        var key: Key
        /// The request's id: a number, or short printable text.
        var id: FieldValue?
        var time: Timestamp
        var index: Int
        var packet: Int
        var type: String?

        /// The request's id, for display.
        var shownID: String? { id?.plainText }
    }

    /// The state of one pairing.
    struct Exchange {
        var requests: Deque<Waiting> = []
        /// Answers without request: a capture may report the request later, or that it lost bytes.
        var early: Deque<Waiting> = []
        /// Those for which there was no room, in order of arrival.
        var crowds: Deque<Crowd> = []
        /// Requests that have been reported as unanswered; their answers may still come.
        var overdue: Deque<Waiting> = []
        /// Whether there were too many to match answers to requests.
        var isLost = false
        /// What was found of a kind; the first ones are reported individually.
        var found: [Finding.Kind: Found] = [:]

        /// How many requests and answers are kept.
        var waiting: Int { requests.count + early.count + overdue.count }

        /// Keeps an answer without request, or only counts it if many wait.
        mutating func keep(early answer: Waiting) {
            guard early.count >= PairedConnection.mostEarly else {
                early.append(answer)
                return
            }
            if let last = crowds.last,
                crowds.count >= PairedConnection.mostEarly || !(PairedConnection.patience < answer.time - last.first)
            {
                crowds[crowds.count - 1].add(answer.time)
            } else {
                crowds.append(Crowd(at: answer.time))
            }
        }

        /// Forgets what waits.
        mutating func clear() {
            requests.removeAll()
            early.removeAll()
            crowds.removeAll()
            overdue.removeAll()
        }

        /// Forgets what waits, for good.
        mutating func lose() {
            isLost = true
            clear()
        }
    }

    /// Answers without request that arrived within `patience`, of which only the number is kept.
    struct Crowd {
        let first: Timestamp
        var last: Timestamp
        var count = 1

        init(at time: Timestamp) { (first, last) = (time, time) }

        mutating func add(_ time: Timestamp) {
            last = max(last, time)
            count += 1
        }
    }

    /// Findings of a kind.
    struct Found {
        /// How many were reported individually.
        var reported = 0
        /// How many more there were.
        var more = 0
        /// The highest severity of those.
        var severity = Finding.Severity.info
    }

    let connection: TracedConnection
    /// The format's name: the format itself is large to copy.
    let format: String
    let pairings: [Pairing]
    /// How answers are matched in each of them, without the place of a value: pairings are large to copy.
    let matching: [Matching]
    /// Where a request's id is, in each of them: the value that its answer names, or a field of that name.
    let idPlaces: [ValuePlace]
    // As in `RoundTripMonitor`, nothing that is called while one of these changes can reach it.
    @exclusivity(unchecked) var exchanges: [Exchange]
    /// Up to when missing and unframed bytes have been taken into account.
    @exclusivity(unchecked) var synchronised = Timestamp(nanoseconds: .min)
    /// The bucket of its hosts.
    let bucket: Int
    /// How many requests and answers its bucket counts for it.
    @exclusivity(unchecked) private(set) var accounted = 0
    /// When it is checked again, if at all.
    @exclusivity(unchecked) var scheduled: Timestamp?

    /// How many requests may wait.
    static let mostRequests = 1_024
    /// How many early answers may wait; of others only the number is kept.
    static let mostEarly = 64
    /// How many requests and answers may wait however many others do.
    static let fewWaiting = 16
    /// How long an answer without request waits to be reported: longer than a gap is waited for.
    static let patience = Interval.seconds(2)
    /// By how much a capture may have an answer before its request, if they are matched only by order.
    static let disorder = Interval.milliseconds(1)
    /// Up to this many findings of a kind are reported individually; beyond that only their number.
    static let reported = 10

    init(_ connection: TracedConnection, _ format: Format) {
        self.connection = connection
        self.format = format.name
        pairings = format.allPairings
        matching = pairings.map { Matching($0.rule) }
        idPlaces = pairings.map { if case .value(let place) = $0.rule { place } else { .field("id") } }
        exchanges = pairings.map { _ in Exchange() }
        bucket = HostBuckets.bucket(of: connection)
    }

    /// Whether there is nothing to remember of it.
    var isIdle: Bool {
        exchanges.allSatisfy { $0.waiting == 0 && $0.crowds.isEmpty && !$0.isLost && $0.found.isEmpty }
    }

    /// By how much more waits than was accounted for; now it is.
    func settle() -> Int {
        var now = 0
        for index in exchanges.indices { now += exchanges[index].waiting }
        defer { accounted = now }
        return now - accounted
    }

    /// Forgets the requests that were reported as unanswered; returns how many there were.
    func forgetOverdue() -> Int {
        var count = 0
        for pairing in exchanges.indices {
            count += exchanges[pairing].overdue.count
            exchanges[pairing].overdue.removeAll()
        }
        return count
    }

    /// Gives all pairings up.
    func lose() {
        for pairing in exchanges.indices { lose(pairing) }
    }

    /// Gives a pairing up: there are too many requests to match answers to.
    func lose(_ pairing: Int) {
        exchanges[pairing].lose()
        if exchanges.allSatisfy(\.isLost) { connection.skipsPairs = true }
    }

    /// When there may be a finding.
    var deadline: Timestamp? {
        var next: Timestamp?
        // Every paired frame asks: nothing is copied but times.
        for index in exchanges.indices {
            if let within = pairings[index].within, let asked = exchanges[index].requests.first?.time {
                next = min(next ?? .distantFuture, asked + within)
            }
            if let answered = exchanges[index].early.first?.time {
                next = min(next ?? .distantFuture, answered + Self.patience)
            }
        }
        return next
    }

    /// Forgets what waits if bytes were lost: what was among them is unknown.
    func synchronise() {
        guard connection.isDisturbed else { return }
        var latest = synchronised
        for direction in Direction.allCases {
            guard let disturbances = connection.traffic[direction].disturbances else { continue }
            for time in [disturbances.missing, disturbances.unframed] {
                if let time, time > latest { latest = time }
            }
        }
        guard latest > synchronised else { return }
        synchronised = latest
        for index in exchanges.indices { exchanges[index].clear() }
    }
}

extension FieldValue {
    /// The value as a request's id: a number, or short printable text. Long ones are not kept.
    var identifying: FieldValue? {
        switch self {
        case .integer, .unsigned: self
        default: shortText.map { .text($0) }
        }
    }
}

import Streams

/// The faults of a trace, connection by connection.
struct CheckReport {
    /// Something that fails the check.
    struct Fault {
        /// As `--fail-on` names it.
        var kind: String
        /// In words; may quote the network.
        var text: String
        var isError: Bool
        var time: Timestamp
    }

    /// A connection, and what is wrong with it.
    struct Connection {
        var number: ConnectionLeg
        /// Both ends.
        var ends: String
        var opened: Timestamp
        var closed: Timestamp?
        var format: String?
        var frames = 0
        /// The first faults.
        var faults: [Fault] = []
        /// How many there are.
        var faultCount = 0
    }

    /// At most how many faults of a connection are listed: a trace of millions must not take all memory.
    static let mostFaults = 100

    /// In the order in which they opened.
    private(set) var connections: [Connection] = []
    private var places: [ConnectionLeg: Int] = [:]

    mutating func opened(_ number: ConnectionLeg, _ ends: String, at time: Timestamp) {
        places[number] = connections.count
        connections.append(Connection(number: number, ends: ends, opened: time))
    }

    mutating func add(_ fault: Fault, to number: ConnectionLeg) {
        // Findings name no leg, and of a connection with two only what both sides sent is in the report.
        let legs = [number, ConnectionLeg(number.number), ConnectionLeg(number.number, .in)]
        guard let place = legs.compactMap({ places[$0] }).first else { return }
        connections[place].faultCount += 1
        if connections[place].faults.count < Self.mostFaults { connections[place].faults.append(fault) }
    }

    mutating func closed(_ number: ConnectionLeg, frames: Int, format: String?, at time: Timestamp) {
        guard let place = places[number] else { return }
        (connections[place].frames, connections[place].format) = (frames, format)
        connections[place].closed = time
    }
}

extension CheckReport.Connection {
    /// `connection 1: redis, 127.0.0.1:50000 → 127.0.0.1:6379`
    var title: String {
        let leg = number.leg == .out ? " out" : ""
        return "connection \(number.number)\(leg): \(format ?? "no format"), \(ends)"
    }

    /// How long it was open, in seconds with three decimals.
    var seconds: String {
        let millis = max(0, ((closed ?? opened) - opened).nanoseconds) / 1_000_000
        let rest = String(millis % 1_000)
        return "\(millis / 1_000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}

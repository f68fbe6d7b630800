import Framing
import Streams

/// The published server's list of clients, hazard `keyed-by-text`: its key is the text of a whole read.
///
/// Clients with the same version are one client, and merged heartbeats and chat lines are clients of their own, which "die" at a
/// later sweep. Bounded, unlike the published one.
struct ClientsByText {
    /// How many texts are kept, and how many bytes of each.
    static let limit = (texts: 10_000, bytes: 1_024)

    /// When each text was last received.
    private(set) var lastHeard: [[UInt8]: Timestamp] = [:]

    /// Takes a read; returns a message if it creates a new client.
    mutating func heard(_ bytes: [UInt8], at time: Timestamp) -> String? {
        let key = Array(bytes.prefix(Self.limit.bytes))
        guard lastHeard[key] != nil || lastHeard.count < Self.limit.texts else { return nil }
        let isNew = lastHeard.updateValue(time, forKey: key) == nil
        return isNew ? "is the new client \(Self.name(key))" : nil
    }

    /// The published server's messages at its sweep: which clients died, and which are alive.
    mutating func sweep(_ silence: Interval, at time: Timestamp) -> [String] {
        let dead = lastHeard.filter { time - $0.value > silence }.keys
        for key in dead { lastHeard[key] = nil }
        let alive = lastHeard.keys.map(Self.name).sorted()
        return dead.map(Self.name).sorted().map { "client \($0) died" }
            + (alive.isEmpty ? [] : ["alive: " + alive.joined(separator: ", ")])
    }

    private static func name(_ key: [UInt8]) -> String {
        FieldValue.text(String(decoding: key, as: UTF8.self)).shortDescription
    }
}

import Streams
import Synchronization
import Trace

/// What connections are sorted by.
enum ConnectionOrder: String, CaseIterable {
    case number, client, server, format, frames, bytes, opened, duration, findings
}

/// Which connections lists show, and in which order. Of many connections, an order is kept for a second: open pages ask for it with
/// each message of news. An answer says whether it lacks the latest events, so that pages ask again after the last news.
final class ConnectionOrders: Sendable {
    private struct Key: Hashable {
        var order: ConnectionOrder
        var search: String?
    }

    private struct Known {
        var key: Key
        var places: [Int]
        var events: Int
        var made: ContinuousClock.Instant
    }

    /// Connections in an order.
    struct Listing {
        /// Their places in the store.
        var places: [Int]
        /// How many events the order takes into account, and how many there were when it was asked for.
        var searched: Int
        var events: Int
    }

    private let known = Mutex<[Known]>([])

    /// How many are kept, for how long, and from how many connections on.
    static let kept = (orders: 16, time: Duration.seconds(1), connections: 512)

    /// The connections in an order.
    ///
    /// - Parameter search: a text in lower case that is in what the connection is described by; nil for all.
    func listing(by order: ConnectionOrder, _ search: String?, in store: EventStore) -> Listing {
        let (count, events) = store.read { ($0.connections.count, $0.events) }
        // They are in the order of opening, which is that of their numbers.
        if order == .number, search == nil {
            return Listing(places: Array(0..<count), searched: events, events: events)
        }
        let (key, now) = (Key(order: order, search: search), ContinuousClock.now)
        if count > Self.kept.connections,
            let kept = known.withLock({ known in
                known.first { $0.key == key && ($0.events == events || now - $0.made < Self.kept.time) }
            })
        {
            return Listing(places: kept.places, searched: min(kept.events, events), events: events)
        }
        let places = Self.sorted(by: order, search, in: store)
        known.withLock { known in
            known.removeAll { $0.key == key }
            if known.count >= Self.kept.orders { known.removeFirst() }
            known.append(Known(key: key, places: places, events: events, made: now))
        }
        return Listing(places: places, searched: events, events: events)
    }

    /// Only the values that it needs are read while the store waits.
    private static func sorted(by order: ConnectionOrder, _ search: String?, in store: EventStore) -> [Int] {
        let found = search.map { matching($0, in: store) }
        func sorted<Key: Comparable & Sendable>(_ key: @Sendable (ConnectionState) -> Key) -> [Int] {
            let keys = store.read { state in state.connections.map(key) }
            // One that was found is in the store.
            return (found ?? Array(keys.indices)).sorted { keys[$0] == keys[$1] ? $0 < $1 : keys[$0] < keys[$1] }
        }
        switch order {
        case .number: return found ?? []
        case .client: return sorted { $0.client }
        case .server: return sorted { $0.server }
        case .format: return sorted { $0.format?.format ?? "" }
        case .frames: return sorted { $0.frames }
        case .bytes: return sorted { $0.bytes }
        case .opened: return sorted { $0.opened }
        case .duration:
            return sorted { (Timestamp(nanoseconds: $0.end) - Timestamp(nanoseconds: $0.opened)).nanoseconds }
        case .findings: return sorted { $0.findingCount }
        }
    }

    /// What a search looks at.
    private struct Described: Sendable {
        var number: Int
        var addresses: String
        var format: String?
        var serverName: String?
        var types: PerDirection<[UInt32: Int]>
    }

    private static func matching(_ search: String, in store: EventStore) -> [Int] {
        let (all, names) = store.read { state in
            let all = state.connections.map { connection in
                Described(
                    number: connection.number, addresses: connection.addresses, format: connection.format?.format,
                    serverName: connection.tls?.facts.serverName,
                    types: PerDirection(
                        fromClient: connection.sides.fromClient.types, fromServer: connection.sides.fromServer.types))
            }
            return (all, state.names)
        }
        // Many connections have the same few formats and types.
        var types: [UInt32: Bool] = [:]
        var texts: [String: Bool] = [:]
        func has(_ type: UInt32) -> Bool {
            if let known = types[type] { return known }
            let has = names[Int(type)].lowercased().contains(search)
            types[type] = has
            return has
        }
        func has(_ text: String?) -> Bool {
            guard let text else { return false }
            if let known = texts[text] { return known }
            let has = text.lowercased().contains(search)
            texts[text] = has
            return has
        }
        return all.indices.filter { place in
            let described = all[place]
            if described.addresses.contains(search) || "\(described.number)" == search { return true }
            if has(described.format) || has(described.serverName) { return true }
            return Direction.allCases.contains { side in described.types[side].keys.contains { has($0) } }
        }
    }
}

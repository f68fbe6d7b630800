import Expressions
import Synchronization

/// The searches that pages asked for last.
final class Searches: Sendable {
    private struct State {
        /// The one asked for last is the last one.
        var searches: [Search] = []
    }

    private let store: EventStore
    private let state = Mutex(State())

    /// How many are remembered: ten pages with a few lists each.
    static let most = 48

    init(_ store: EventStore) { self.store = store }

    /// The search for some events, which may have begun before.
    func search(_ key: SearchKey) throws(ExpressionError) -> Search {
        let known = state.withLock { state -> Search? in
            guard let place = state.searches.firstIndex(where: { $0.key == key }) else { return nil }
            let search = state.searches.remove(at: place)
            state.searches.append(search)
            return search
        }
        if let known { return known }
        let made = Search(key, key.filter.isEmpty ? nil : try FrameFilter(key.filter), in: store)
        return state.withLock { state in
            if let other = state.searches.first(where: { $0.key == key }) { return other }
            if state.searches.count >= Self.most { state.searches.removeFirst().drop() }
            state.searches.append(made)
            return made
        }
    }
}

import Streams

/// Which events a list shows.
struct SearchKey: Hashable, Sendable {
    /// Which leg's events.
    enum Legs: Hashable, Sendable {
        /// What both sides sent: of connections with one leg, all.
        case sent
        case passedOn
        case both
    }

    /// A condition on frames; empty for all events. Only frames fulfil one.
    var filter = ""
    /// Of which connection; nil for all.
    var connection: Int?
    var legs = Legs.sent
    var kinds: Set<EventRecord.Kind> = [.frame]
    /// Only findings of this kind; nil for all.
    var finding: String?

    /// Whether it is the list of all frames that both sides sent, which the store keeps.
    var isOfAllFrames: Bool { self == SearchKey() }

    /// Whether an event is of one of the legs.
    func includes(rawLeg: UInt8) -> Bool {
        switch legs {
        case .sent: rawLeg != 2
        case .passedOn: rawLeg != 1
        case .both: true
        }
    }
}

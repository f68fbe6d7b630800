import Framing
import Synchronization
import Trace

/// The events that a list shows, found in the background, some at a time. New events are looked at as they come.
final class Search: Sendable {
    private struct State {
        var matches = NumberList()
        /// How many events were looked at.
        var searched = 0
        /// With a connection: how many entries of its list were.
        var place = 0
        var isUnderWay = false
        /// Whether nobody has asked for it for so long that it need not go on.
        var isDropped = false
        var isFull = false
        /// The connection that was looked at last.
        var latest: Latest?
    }

    private struct Latest {
        let connection: UInt32
        let rawLeg: UInt8
        let format: Format?
        let ends: FrameFilter.Ends
    }

    let key: SearchKey
    private let filter: FrameFilter?
    private let store: EventStore
    private let state = Mutex(State())

    /// How many events are looked at before others may ask for what was found.
    private var slice: Int { filter?.isOfIndex == false ? 64 : 1_024 }

    init(_ key: SearchKey, _ filter: FrameFilter?, in store: EventStore) {
        (self.key, self.filter, self.store) = (key, filter, store)
    }

    /// What was found.
    var progress: (matches: Int, searched: Int) { state.withLock { ($0.matches.count, $0.searched) } }

    /// The events at some places.
    func events(_ places: Range<Int>) -> [UInt32] { state.withLock { $0.matches[places] } }

    /// The place of the first match that is not before an event.
    func place(of event: Int) -> Int { state.withLock { $0.matches.place(of: UInt32(clamping: event)) } }

    /// Looks at events until a time, or until there are no more.
    ///
    /// - Returns: whether it has looked at all that there are.
    func advance(until deadline: ContinuousClock.Instant) -> Bool {
        while true {
            let isDone = state.withLock { key.connection == nil ? step(&$0) : stepInConnection(&$0) }
            if isDone { return true }
            if ContinuousClock.now >= deadline { return false }
        }
    }

    /// What runs work in the background.
    typealias Background = @Sendable (@escaping @Sendable () -> Void) -> Void

    /// Goes on in the background until it has looked at all events; at most once at a time. It does so in turns, since others wait
    /// for the same threads.
    ///
    /// - Parameter turn: how long a turn takes.
    func goOn(turn: Duration = .milliseconds(100), on background: @escaping Background) {
        let begins = state.withLock { state in
            defer { state.isUnderWay = true }
            return !state.isUnderWay
        }
        if begins { takeTurn(turn, on: background) }
    }

    private func takeTurn(_ turn: Duration, on background: @escaping Background) {
        background { [self] in
            let isDropped = state.withLock { $0.isDropped }
            if isDropped || advance(until: ContinuousClock.now + turn) {
                state.withLock { $0.isUnderWay = false }
            } else {
                takeTurn(turn, on: background)
            }
        }
    }

    /// Does not go on in the background any more.
    func drop() { state.withLock { $0.isDropped = true } }

    // MARK: Looking

    private func step(_ state: inout State) -> Bool {
        let count = store.count
        let end = min(state.searched + slice, count)
        guard state.searched < end, !state.isFull else { return true }
        let records = store.records(state.searched..<end)
        let names = store.read { $0.names }
        for (place, record) in records.enumerated() where isMatch(record, names, &state) {
            found(state.searched + place, &state)
        }
        state.searched = end
        return end == count
    }

    private func stepInConnection(_ state: inout State) -> Bool {
        let number = key.connection ?? 0
        let (list, count, names, isListed) = store.read { store in
            (store.connection(number)?.list, store.events, store.names, !store.isFull)
        }
        guard let list, !state.isFull else {
            // Where connections are not listed any more, their events are only among all of them.
            if list == nil, !isListed, !state.isFull { return step(&state) }
            state.searched = count
            return true
        }
        var candidates: [UInt32] = []
        var isDone = true
        list.read(from: state.place, in: store.lists) { place, entries in
            for entry in entries where key.kinds.contains(entry.kind) && key.includes(rawLeg: entry.rawLeg) {
                candidates.append(entry.event)
            }
            state.place = place + entries.count
            state.searched = Int(entries.last?.event ?? 0) + 1
            isDone = candidates.count < slice
            return isDone
        }
        let needsRecords = filter != nil || key.finding != nil
        let records = needsRecords ? store.records(of: candidates) : []
        for (place, event) in candidates.enumerated() {
            if needsRecords, !isMatch(records[place], names, &state) { continue }
            found(Int(event), &state)
        }
        if isDone { state.searched = count }
        return isDone
    }

    private func found(_ event: Int, _ state: inout State) {
        do { try state.matches.append(UInt32(event)) } catch { state.isFull = true }
    }

    private func isMatch(_ record: EventRecord, _ names: [String], _ state: inout State) -> Bool {
        guard key.kinds.contains(record.kind), key.includes(rawLeg: record.rawLeg) else { return false }
        if let connection = key.connection, Int(record.connection) != connection { return false }
        let name = Int(record.name) < names.count && record.name > 0 ? names[Int(record.name)] : nil
        if record.kind == .finding, let finding = key.finding, kind(of: record, name) != finding { return false }
        guard let filter else { return true }
        guard record.kind == .frame else { return false }
        let isInexact = filter.asksForType && name.map(NameTable.isInexact) ?? false
        if filter.isOfIndex, !isInexact { return filter.holds(for: record, type: name) }
        let latest = latest(record, &state)
        if let format = latest.format, let detail = store.detail(record),
            let holds = filter.holds(for: record, detail, format, latest.ends)
        {
            return holds
        }
        return filter.holds(for: record, line: store.line(record), latest.ends)
    }

    /// The kind of a finding. Its line has it whole.
    private func kind(of record: EventRecord, _ name: String?) -> String? {
        guard let name, NameTable.isInexact(name), let event = store.event(record) else { return name }
        guard case .finding(let finding) = event else { return name }
        return finding.kind
    }

    private func latest(_ record: EventRecord, _ state: inout State) -> Latest {
        if let known = state.latest, known.connection == record.connection, known.rawLeg == record.rawLeg {
            return known
        }
        let number = Int(record.connection)
        let latest = Latest(
            connection: record.connection, rawLeg: record.rawLeg, format: store.format(of: number, record.leg),
            ends: store.ends(of: number))
        state.latest = latest
        return latest
    }
}

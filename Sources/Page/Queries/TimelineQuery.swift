import Streams
import Trace

/// `GET timeline`: when each connection was open, how busy, and what went wrong when.
enum TimelineQuery {
    /// At most how many lanes, bins and marks an answer has.
    private static let most = (lanes: 200, bins: 2_000, marks: 200, allMarks: 2_000)

    static func answer(_ query: QueryParameters, _ page: Page) throws(PageFault) -> [UInt8] {
        let known = page.store.read { ($0.earliest ?? 0, $0.latest ?? 0, $0.names) }
        let from = try query.time("from") ?? known.0
        let to = max(from, try query.time("to") ?? known.1)
        let bins = max(1, try query.number("bins", 200, most: most.bins))
        let first = try query.number("first", 0, most: 1 << 40)
        let count = try query.number("count", 50, most: most.lanes)
        let only = try query.number("connection")
        let (total, lanes) = page.store.read { state -> (Int, [ConnectionState]) in
            let overlapping = state.connections.indices.filter { place in
                let connection = state.connections[place]
                let end = connection.closed == nil && !state.isFinished ? .max : connection.end
                return connection.opened <= to && end >= from && only ?? connection.number == connection.number
            }
            let places = overlapping[min(first, overlapping.count)..<min(first + count, overlapping.count)]
            return (overlapping.count, places.map { state.connections[$0] })
        }
        var marksLeft = most.allMarks
        return JSONText.object { json in
            json.member("from", time: from)
            json.member("to", time: to)
            json.member("total", total)
            json.key("lanes")
            json.array { json in
                for lane in lanes {
                    var reading = LaneReading(from: from, to: to, bins: bins, names: known.2.count)
                    lane.list.read(from: 0, in: page.store.lists) { _, entries in
                        reading.take(entries)
                        return true
                    }
                    let shown = min(most.marks, marksLeft)
                    marksLeft -= write(lane, reading, marks: shown, of: page.store, to: &json)
                }
            }
            json.key("types")
            json.array { json in for name in known.2 { json.text(name) } }
        }
    }

    /// Writes a lane.
    ///
    /// - Returns: how many marks it has.
    private static func write(
        _ lane: ConnectionState, _ reading: LaneReading, marks: Int, of store: EventStore, to json: inout JSONText
    ) -> Int {
        let gaps = lane.gaps.filter { $0.start <= reading.to && $0.end ?? .max >= reading.from }.prefix(marks)
        let others = reading.marks.prefix(marks - gaps.count)
        json.object { json in
            json.member("connection", lane.number)
            json.member("client", lane.client)
            json.member("server", lane.server)
            json.member("opened", time: lane.opened)
            json.member("closed", time: lane.closed?.time.nanoseconds)
            json.member("reason", lane.closed?.reason)
            json.member("by", lane.closed?.by?.sender)
            json.key("bins")
            json.object { json in
                for (side, counts) in zip(["client", "server"], reading.sides) {
                    json.key(side)
                    counts.write(to: &json)
                }
            }
            json.key("marks")
            json.array { json in
                for gap in gaps { TimelineMark.write(gap, to: &json) }
                for entry in others { TimelineMark.write(entry, lane, of: store, to: &json) }
            }
            json.member("moreMarks", reading.marks.count + reading.unlisted - others.count)
        }
        return gaps.count + others.count
    }
}

/// Counts the frames of a connection in bins of time.
struct LaneReading {
    let from: Int64
    let to: Int64
    private(set) var sides: [LaneBins]
    /// What is worth a mark, apart from times without heartbeats.
    private(set) var marks: [ListEntry] = []
    /// How many more there were.
    private(set) var unlisted = 0

    private static let mostMarks = 200

    /// - Parameter names: how many names there are.
    init(from: Int64, to: Int64, bins: Int, names: Int) {
        (self.from, self.to) = (from, to)
        sides = [LaneBins](repeating: LaneBins(bins, names: names), count: 2)
    }

    mutating func take(_ entries: [ListEntry]) {
        let (count, span) = (Double(sides[0].count), Double(to - from) + 1)
        for entry in entries where entry.time >= from && entry.time <= to && entry.rawLeg != 2 {
            switch entry.kind {
            case .frame:
                let bin = min(Int(Double(entry.time - from) / span * count), sides[0].count - 1)
                sides[entry.rawSide == 2 ? 1 : 0].add(entry, to: bin)
            case .missing, .unframed, .dropped, .finding, .action, .closed:
                if marks.count < Self.mostMarks { marks.append(entry) } else { unlisted += 1 }
            case .trace, .opened, .tls, .format, .summary: break
            }
        }
    }
}

/// The frames of one side in bins of time.
struct LaneBins {
    let count: Int
    private var frames: [UInt32]
    private var heartbeats: [UInt32]
    /// For each bin, how many frames it has of each of the types that were seen first.
    private var byType: [UInt32] = []
    /// The types that were seen first, and the place of each type among them; the last place stands for all others.
    private var types: [UInt32] = []
    private var places: [UInt8]

    private static let mostTypes = 16

    init(_ count: Int, names: Int) {
        self.count = count
        frames = [UInt32](repeating: 0, count: count)
        heartbeats = frames
        places = [UInt8](repeating: .max, count: names)
    }

    mutating func add(_ entry: ListEntry, to bin: Int) {
        frames[bin] += 1
        if entry.isHeartbeat { heartbeats[bin] += 1 }
        let name = Int(entry.name)
        guard name < places.count else { return }
        if places[name] == .max, types.count < Self.mostTypes {
            if byType.isEmpty { byType = [UInt32](repeating: 0, count: count * Self.mostTypes) }
            places[name] = UInt8(types.count)
            types.append(entry.name)
        }
        if places[name] != .max { byType[bin * Self.mostTypes + Int(places[name])] += 1 }
    }

    /// Writes `[bin, frames, heartbeats, type]` for each bin that has frames.
    func write(to json: inout JSONText) {
        json.array { json in
            for bin in 0..<count where frames[bin] > 0 {
                json.array { json in
                    json.number(bin)
                    json.number(Int(frames[bin]))
                    json.number(Int(heartbeats[bin]))
                    let start = bin * Self.mostTypes
                    let best = types.indices.max { byType[start + $0] < byType[start + $1] }
                    json.number(best.map { Int(types[$0]) } ?? 0)
                }
            }
        }
    }
}

/// What went wrong, or was done, at a time.
enum TimelineMark {
    /// Writes a time without heartbeats.
    static func write(_ gap: ConnectionState.HeartbeatGap, to json: inout JSONText) {
        json.object { json in
            json.member("at", time: gap.start)
            json.member("to", time: gap.end)
            json.member("kind", "heartbeat-gap")
            json.member("from", gap.from.sender)
            json.member("blame", gap.blame)
            json.member("severity", gap.severity)
            json.member("text", gap.message)
            json.member("event", gap.event)
        }
    }

    /// Writes the mark of an event, unless it is shown as a time without heartbeats, or as the connection's end.
    static func write(_ entry: ListEntry, _ lane: ConnectionState, of store: EventStore, to json: inout JSONText) {
        guard let record = store.record(Int(entry.event)), let event = store.event(record) else { return }
        var (kind, severity, text) = (entry.kind.name, "warning", "")
        switch event {
        case .finding(let finding):
            if finding.kind == "heartbeat-gap", lane.gaps.contains(where: { $0.event == Int(entry.event) }) { return }
            kind = finding.kind.hasPrefix("unanswered") ? "unanswered" : "finding"
            (severity, text) = (finding.severity, String(finding.message.prefix(512)))
        case .closed(let closed):
            guard closed.reason == "reset" else { return }
            (kind, severity, text) = ("reset", "info", "reset" + (closed.by.map { " by \($0.sender)" } ?? ""))
        case .missing(let run), .unframed(let run), .dropped(let run):
            text = "\(run.length) bytes \(kind)" + (run.reason.isEmpty ? "" : ", \(run.reason)")
        case .action(let action): (severity, text) = ("info", "\(action.report.action) by \(action.report.rule)")
        case .trace, .opened, .tls, .format, .frame, .summary: return
        }
        json.object { json in
            json.member("at", time: entry.time)
            json.member("to", time: nil)
            json.member("kind", kind)
            json.member("from", record.from?.sender)
            json.member("blame", nil)
            json.member("severity", severity)
            json.member("text", text)
            json.member("event", Int(entry.event))
        }
    }
}

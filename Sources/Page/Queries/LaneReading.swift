import Streams
import Trace

/// Counts the frames of a connection in bins of time.
struct LaneReading {
    let from: Int64
    let to: Int64
    private(set) var sides: [LaneBins]
    /// What may be worth a mark.
    private(set) var marks: [ListEntry] = []
    /// How many more there were.
    private(set) var unlisted = 0

    private static let mostMarks = 256

    /// - Parameter names: how many names there are.
    init(from: Int64, to: Int64, bins: Int, names: Int) {
        (self.from, self.to) = (from, to)
        sides = [LaneBins](repeating: LaneBins(bins, names: names), count: 2)
    }

    mutating func take(_ entries: [ListEntry]) {
        // The differences of 64 bits are not negative, and may need all of them.
        let (count, span) = (Double(sides[0].count), Double(UInt64(bitPattern: to &- from)) + 1)
        for entry in entries where entry.time >= from && entry.time <= to && entry.rawLeg != 2 {
            switch entry.kind {
            case .frame:
                let after = Double(UInt64(bitPattern: entry.time &- from))
                let bin = min(Int(after / span * count), sides[0].count - 1)
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

    /// The most types that have counts of their own.
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

    /// Writes `[bin, frames, heartbeats, type]` for each bin that has frames; the type is its place in `types`, or -1 for frames
    /// without one.
    func write(_ types: inout TypePlaces, to json: inout JSONText) {
        json.array { json in
            for bin in 0..<count where frames[bin] > 0 {
                json.array { json in
                    json.number(bin)
                    json.number(Int(frames[bin]))
                    json.number(Int(heartbeats[bin]))
                    json.number(types.place(of: mostFrequent(in: bin)))
                }
            }
        }
    }

    private func mostFrequent(in bin: Int) -> UInt32 {
        let start = bin * Self.mostTypes
        let best = types.indices.max { byType[start + $0] < byType[start + $1] }
        return best.map { types[$0] } ?? 0
    }
}

/// The types that an answer names, in the order in which they are needed.
struct TypePlaces {
    private(set) var numbers: [UInt32] = []
    private var places: [UInt32: Int] = [:]

    /// The place of a type; -1 for no type.
    mutating func place(of number: UInt32) -> Int {
        if number == 0 { return -1 }
        if let known = places[number] { return known }
        places[number] = numbers.count
        numbers.append(number)
        return numbers.count - 1
    }
}

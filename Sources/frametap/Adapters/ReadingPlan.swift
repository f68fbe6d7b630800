import Packets
import Platform
import Streams
import Trace

/// What is read of captures if only some connections are wanted.
struct ReadingPlan: Sendable {
    /// The connections that are read.
    var selection = ConnectionSelection()
    /// What is read of those captures that have an index, by path.
    var extents: [String: [Range<Int>]] = [:]
    /// The time of the last packet of those captures.
    var end: Timestamp?

    /// What is wanted of captures.
    struct Request {
        /// By ends and hosts.
        var selection = ConnectionSelection()
        /// By time, if all captures have an index.
        var times = TimeSelection()
        /// Where indexes are; nil: beside the captures.
        var folder: String?
        /// Whether to do without them.
        var ignoresIndexes = false
    }

    /// More connections than this are not told apart by time.
    private static let mostConnections = 1 << 20

    /// A capture with an index that can be used.
    private struct Indexed {
        var capture: String
        var file: IndexFile
        var header: IndexHeader
    }

    /// Decides what to read; nil: everything.
    init?(_ request: Request, of paths: [String]) {
        selection = request.selection
        let asksForEnds = selection != ConnectionSelection()
        let asksForTime = request.times != TimeSelection()
        guard asksForEnds || asksForTime else { return nil }
        let indexed = request.ignoresIndexes ? [] : Self.indexed(paths, request.folder)
        var isByTime = false
        do {
            if asksForTime, Set(indexed.map(\.capture)) == Set(paths),
                let ends = try Self.connections(request, indexed)
            {
                selection = ConnectionSelection(ends: ends)
                isByTime = true
            } else if !asksForEnds {
                return nil
            }
            for index in indexed where !index.header.isCompressed { try take(index) }
        } catch {
            // Found to be damaged while it was read.
            warn("\(error); everything is read")
            (extents, end, isByTime) = ([:], nil, false)
            selection = request.selection
            if !asksForEnds { return nil }
        }
        if !extents.isEmpty {
            announce()
        } else if isByTime, let ends = selection.ends {
            warn("reading \(Quantities.counted(ends.count, "connection")), by index")
        }
    }

    /// The captures whose index can be used; why others cannot is reported.
    private static func indexed(_ paths: [String], _ folder: String?) -> [Indexed] {
        var indexed: [Indexed] = []
        for capture in paths where capture != "-" {
            let file = IndexFile(of: capture, in: folder)
            switch file.condition {
            case .absent: continue
            case .usable(let header): indexed.append(Indexed(capture: capture, file: file, header: header))
            case .useless(let reason): warn("\(reason); all of \(capture) is read")
            }
        }
        return indexed
    }

    /// The wanted connections that have something in the time; nil if there are too many.
    private static func connections(_ request: Request, _ indexed: [Indexed]) throws -> Set<ConnectionEnds>? {
        var ends: Set<ConnectionEnds> = []
        for index in indexed {
            try read(
                index, where: { $0.mayContain(request.selection) && request.times.mayContain($0) }
            ) { record in
                guard case .connection(let connection) = record, ends.count <= mostConnections,
                    request.selection.contains(connection.ends), request.times.contains(connection)
                else { return }
                ends.insert(connection.ends)
            }
        }
        return ends.count <= mostConnections ? ends : nil
    }

    /// Takes a capture's extents from its index.
    private mutating func take(_ index: Indexed) throws {
        var set = ExtentSet()
        var whole = IndexEnd()
        let selection = selection
        try Self.read(index, where: { $0.mayContain(selection) }) { record in
            switch record {
            case .connection(let connection):
                if selection.contains(connection.ends) { set.insert(connection.extents) }
            case .places(let places): set.insert(places)
            case .end(let end): whole = end
            }
        }
        // What could not be read is tried again: the error is the same.
        if whole.readable < index.header.size { set.insert(CollectionOfOne(whole.readable..<index.header.size)) }
        let joined = set.joined()
        guard whole.readable <= index.header.size, joined.allSatisfy({ $0.upperBound <= index.header.size }) else {
            throw CommandError("\(index.file.path) is damaged: it names places after the end of \(index.capture)")
        }
        guard index.header.size == 0 || joined.first?.lowerBound == 0 else {
            throw CommandError("\(index.file.path) is damaged: it leaves out the header of \(index.capture)")
        }
        extents[index.capture] = joined
        if let last = whole.times?.upperBound { end = max(end ?? last, last) }
    }

    private static func read(
        _ index: Indexed, where isWanted: (IndexChunk) -> Bool, _ take: (IndexRecord) -> Void
    ) throws {
        do {
            try index.file.read(where: isWanted, take)
        } catch {
            throw CommandError(IndexFile.describe(error, index.file.path))
        }
    }

    /// Says that not everything is read.
    private func announce() {
        let read = extents.values.reduce(0) { $0 + $1.reduce(0) { $0 + $1.count } }
        let all = extents.keys.reduce(0) { $0 + (FileStatus(of: $1)?.size ?? 0) }
        let files = extents.count == 1 ? extents.keys.first ?? "" : Quantities.counted(extents.count, "capture")
        warn("\(files): reading \(Quantities.size(read)) of \(Quantities.size(all)), by index")
    }
}

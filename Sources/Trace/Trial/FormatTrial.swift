import Framing
import Streams

/// How much of a capture a format frames, and where it fails first: for those who are writing the format's file.
package final class FormatTrial: TraceSink {
    /// Where bytes are in no frame.
    private struct Failure {
        var run: UnframedRun
        var direction: Direction
        var connection: Int
        /// The frame before it, in words; nil if there is none.
        var before: String?
        /// Whether its bytes may hold secrets.
        var isHidden: Bool
    }

    private struct Side: Hashable {
        var connection: Int
        var direction: Direction
    }

    private var bytes = ByteCounts()
    private var connections = (all: 0, framed: 0)
    private var types: [String: Int] = [:]
    private var reasons: [UnframedReason: Int] = [:]
    /// The last frame of each side of an open connection.
    private var last: [Side: String] = [:]
    /// The first failures of open connections, and the first one of those that had frames, and of all.
    private var failures: [Int: Failure] = [:]
    private var first: (withFrames: (Failure, String)?, any: (Failure, String)?)

    /// At most this many types are counted; the others together.
    private static let mostTypes = 1_000
    /// At most this many types, and bytes of a failure, are shown.
    private static let shown = (types: 12, bytes: 64)

    package let bodyLimit = 0

    /// Whether there were no bytes to frame.
    package var isEmpty: Bool { bytes.bytes == 0 }

    /// A trial of nothing yet.
    package init() { first = (nil, nil) }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard let format = connection.format?.directions[frame.direction] else { return }
        let type = format.type(of: bytes, frame.shape) ?? "-"
        types[types[type] == nil && types.count >= Self.mostTypes ? "…" : type, default: 0] += 1
        let info = frame.info
        last[Side(connection: connection.number, direction: frame.direction)] =
            "frame \(info.index) (\(PrintableText.of(type, columns: 24)), "
            + "\(Quantities.counted(info.length, "byte")) at \(Quantities.grouped(info.offset)))"
    }

    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {
        reasons[run.reason, default: 0] += run.byteCount
        guard failures[connection.number] == nil else { return }
        let before = last[Side(connection: connection.number, direction: direction)]
        failures[connection.number] = Failure(
            run: run, direction: direction, connection: connection.number, before: before,
            isHidden: connection.kinds(of: direction)?.hidesUnframed == true)
    }

    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        connections.all += 1
        let frames = counts.fromClient.frames + counts.fromServer.frames
        if frames > 0 { connections.framed += 1 }
        for direction in Direction.allCases {
            bytes.add(counts[direction])
            last[Side(connection: connection.number, direction: direction)] = nil
        }
        guard let failure = failures.removeValue(forKey: connection.number) else { return }
        let ends = "\(connection.opening.client) → \(connection.opening.server)"
        func earlier(_ known: (Failure, String)?) -> (Failure, String) {
            guard let known, known.0.run.time <= failure.run.time else { return (failure, ends) }
            return known
        }
        first.any = earlier(first.any)
        if frames > 0 { first.withFrames = earlier(first.withFrames) }
    }

    // MARK: Text

    /// The result in words, as lines.
    ///
    /// - Parameter name: the capture's.
    package func lines(_ name: String) -> [String] {
        guard bytes.bytes > 0 else { return ["\(name): there are no bytes of TCP connections"] }
        let tenths = (bytes.framed + bytes.padding) * 1_000 / bytes.bytes
        var lines = [
            "\(name): \(tenths / 10).\(tenths % 10) % of \(Quantities.counted(bytes.bytes, "byte")) framed, "
                + "\(Quantities.counted(bytes.frames, "frame")) on \(connections.framed) of "
                + Quantities.counted(connections.all, "connection")
        ]
        if bytes.missing > 0 { lines.append("  \(Quantities.counted(bytes.missing, "byte")) missing in the capture") }
        if !types.isEmpty {
            let sorted = types.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            var shown = sorted.prefix(Self.shown.types).map {
                "\(PrintableText.of($0.key, columns: 24)) \(Quantities.grouped($0.value))"
            }
            if sorted.count > shown.count { shown.append("and \(sorted.count - shown.count) more") }
            lines.append("  types: " + shown.joined(separator: ", "))
        }
        // Where nothing at all is framed, another protocol may be spoken.
        guard let (failure, ends) = first.withFrames ?? first.any else { return lines }
        let context = failure.before.map { ", after \($0)" } ?? ", at the beginning of what is framed"
        lines.append(
            "  fails first on connection \(failure.connection) (\(ends)), \(failure.direction.sender), offset "
                + "\(Quantities.grouped(failure.run.offset))\(context):")
        let detail = failure.run.detail(hidingText: failure.isHidden)
        lines.append("    \(failure.run.reason.rawValue): \(PrintableText.of(detail, columns: 400))")
        if failure.isHidden {
            lines.append("      its bytes are not shown: they may hold secrets")
        } else {
            let dump = HexDump.of(
                failure.run.bytes.span.bytes, limit: Self.shown.bytes, label: "      ", from: failure.run.offset)
            lines += dump.split(separator: "\n").map(String.init)
        }
        let all = reasons.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }.map {
            "\($0.key.rawValue) \(Quantities.grouped($0.value))"
        }
        lines.append("  unframed bytes: " + all.joined(separator: ", "))
        return lines
    }
}

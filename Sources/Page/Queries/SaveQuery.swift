import Control
import Framing
import NIOHTTP1
import Streams
import Trace

/// `GET save`: a stretch of the trace as a file.
struct SaveQuery: Sendable {
    /// What can be saved.
    private enum Form: String { case capture, trace, golden, torture }

    /// Makes a capture of some connections, with whether it has all of their packets; nil where packets are not kept.
    typealias Capture = @Sendable (Set<Int>) -> (bytes: [UInt8], isComplete: Bool)

    /// Which events are saved.
    private struct Stretch: Sendable {
        var connection: Int?
        var from: Int64?
        var to: Int64?

        var isWhole: Bool { connection == nil && from == nil && to == nil }

        /// Whether a connection was open in it.
        func includes(_ state: ConnectionState) -> Bool {
            connection ?? state.number == state.number && state.opened <= to ?? .max && state.end >= from ?? .min
        }

        /// What says what a connection is belongs to every stretch of it.
        func includes(_ record: EventRecord, _ open: ClosedRange<Int64>?) -> Bool {
            switch record.kind {
            case .trace: return false
            case .summary: return isWhole
            case .opened, .tls, .format:
                guard connection ?? Int(record.connection) == Int(record.connection) else { return false }
                guard let open else { return true }
                return open.lowerBound <= to ?? .max && open.upperBound >= from ?? .min
            default:
                guard connection ?? Int(record.connection) == Int(record.connection) else { return false }
                return record.time >= from ?? .min && record.time <= to ?? .max
            }
        }
    }

    let capture: Capture?

    func answer(_ query: QueryParameters, _ page: Page) throws(PageFault) -> HTTPResponse {
        guard let form = Form(rawValue: query["as"] ?? "trace") else {
            throw PageFault(400, "as is \(query["as"]?.prefix(40) ?? ""); expected capture, trace, golden or torture")
        }
        let stretch = Stretch(
            connection: try query.number("connection"), from: try query.time("from"), to: try query.time("to"))
        let name = stretch.connection.map { "connection-\($0)" } ?? "frametap"
        switch form {
        case .capture: return try packets(of: stretch, name, page)
        case .trace: return Self.file("\(name).ndjson", "application/x-ndjson", page, stretch)
        case .golden: return Self.file("\(name).golden.ndjson", "application/x-ndjson", page, stretch)
        case .torture:
            let format = page.store.read { state in
                state.connections.first { stretch.includes($0) && $0.format != nil }?.format?.format
            }
            return Self.file(
                "\(name)-torture.sh", "text/x-shellscript; charset=utf-8", page, stretch,
                before: TortureScript.beginning, after: TortureScript.ending(format: format))
        }
    }

    private func packets(of stretch: Stretch, _ name: String, _ page: Page) throws(PageFault) -> HTTPResponse {
        guard let capture else {
            throw PageFault(501, "packets are kept by frametap proxy only; frametap capture --write keeps a capture's")
        }
        let (connections, secretive) = page.store.read { state in
            let included = state.connections.filter { stretch.includes($0) }
            let secretive = included.filter(\.mayHaveSecrets).map { $0.format?.format ?? "" }.min()
            return (Set(included.map(\.number)), secretive)
        }
        if let secretive {
            throw PageFault(
                403,
                "the format \(secretive) has secrets, which packets would show; expected frametap proxy --show-secrets, or "
                    + "as=trace, where they are hidden")
        }
        let (bytes, isComplete) = capture(connections)
        var response = HTTPResponse(.ok, bytes: bytes, contentType: "application/x-pcapng")
        response.headers.append(("Content-Disposition", "attachment; filename=\"\(name).pcapng\""))
        if !isComplete { response.headers.append(("X-Frametap-Incomplete", "the oldest packets were evicted")) }
        return response
    }

    /// At most how many events are looked at at a time, and about how many bytes of lines are in memory.
    private static let slice = (events: 2_000, bytes: 1 << 20)

    /// The trace of a stretch, written as it is read: it may be larger than memory.
    private static func file(
        _ name: String, _ type: String, _ page: Page, _ stretch: Stretch, before: String = "", after: String = ""
    ) -> HTTPResponse {
        let (count, source, tool) = page.store.read { ($0.events, $0.source, $0.tool) }
        var response = HTTPResponse(contentType: type) { write in
            let start = TraceEvent.trace(TraceStart(version: NDJSONWriter.version, source: source, tool: tool))
            try await write(Array(before.utf8) + start.line)
            var next = 0
            while next < count {
                let events = next..<min(next + slice.events, count)
                let part = try await page.perform { lines(events, stretch, page.store) }
                if !part.bytes.isEmpty { try await write(part.bytes) }
                next = part.next
            }
            if !after.isEmpty { try await write(Array(after.utf8)) }
        }
        response.headers.append(("Content-Disposition", "attachment; filename=\"\(name)\""))
        return response
    }

    /// The lines of some events, as many as may be in memory.
    ///
    /// - Returns: the lines, and the first event that was not looked at.
    private static func lines(
        _ events: Range<Int>, _ stretch: Stretch, _ store: EventStore
    ) -> (bytes: [UInt8], next: Int) {
        var bytes: [UInt8] = []
        for (place, record) in store.records(events).enumerated() {
            if bytes.count >= slice.bytes { return (bytes, events.lowerBound + place) }
            var open: ClosedRange<Int64>?
            if [.opened, .tls, .format].contains(record.kind) {
                open = store.read { state in
                    state.places[Int(record.connection)].map { place in
                        let connection = state.connections[place]
                        return connection.opened...max(connection.opened, connection.end)
                    }
                }
            }
            if stretch.includes(record, open) { bytes += store.line(record) }
        }
        return (bytes, events.upperBound)
    }
}

extension TraceEvent {
    /// Its line.
    fileprivate var line: [UInt8] {
        let output = MemoryOutput()
        let writer = NDJSONWriter(to: output)
        writer.write(self)
        writer.flush()
        return output.bytes
    }
}

/// A shell script that plays a stretch to a server, cut at every place.
enum TortureScript {
    private static let end = "END-OF-TRACE"

    static let beginning = """
        #!/bin/sh
        # Plays what the client said to a server, cut at every place: sh torture.sh 127.0.0.1:8088
        set -eu
        server=${1:?expected the address of the server, such as 127.0.0.1:8088}
        trace=$(mktemp)
        trap 'rm -f "$trace"' EXIT
        cat > "$trace" <<'\(end)'

        """

    /// - Parameter format: its name; anything but a plain name is left out, since the script would run it.
    static func ending(format: String?) -> String {
        let name = format.flatMap { name in
            name.utf8.allSatisfy {
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= $0 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
                    || $0 == UInt8(ascii: "-")
            } && !name.hasPrefix("-") ? name : nil
        }
        return
            "\(end)\nframetap torture --server \"$server\" --replay \"$trace\"\(name.map { " --format \($0)" } ?? "")\n"
    }
}

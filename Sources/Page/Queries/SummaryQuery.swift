import Streams
import Trace

/// `GET summary`: the trace's last line, and how many frames there are of each type.
enum SummaryQuery {
    static func answer(_ page: Page) -> [UInt8] {
        let (event, types, names) = page.store.read { ($0.summary, $0.types, $0.names) }
        var line = event.flatMap { page.store.record($0) }.map { page.store.line($0) } ?? []
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        return JSONText.object { json in
            // The line's own members, without its braces.
            if line.count > 2 { json.raw(line.dropFirst().dropLast()) }
            json.key("types")
            json.object { json in
                for direction in Direction.allCases {
                    json.key(direction.sender)
                    TypeCounts.write(types[direction], names, to: &json)
                }
            }
        }
    }
}

/// `GET held`: the frames that breakpoints have stopped.
enum HeldQuery {
    /// At most how many are shown: each with its line, which may have a long body.
    static let most = 100

    /// - Parameters:
    ///   - frames: those that are shown, of those that are held.
    ///   - total: how many are held.
    ///   - timeout: for how long a frame is held; nil: for any time.
    ///   - listener: the name of the listener of a connection.
    static func answer(
        _ page: Page, _ frames: [HeldFrames.Frame], total: Int, timeout: Interval?, listener: (Int) -> String?
    ) -> [UInt8] {
        return JSONText.object { json in
            json.member("total", total)
            json.key("held")
            json.array { json in
                for frame in frames {
                    let record = page.store.frame(frame.index, of: frame.connection, frame.from)
                    json.object { json in
                        json.member("listener", listener(frame.connection))
                        json.member("connection", frame.connection)
                        json.member("from", frame.from.sender)
                        json.member("index", frame.index)
                        let type = record.flatMap { record in page.store.read { $0.name(record.name) } }
                        json.member("type", frame.type ?? type)
                        json.member("since", time: frame.since)
                        if let timeout {
                            json.member("deadline", (Timestamp(nanoseconds: frame.since) + timeout).rfc3339)
                        }
                        json.key("line")
                        if let record { json.raw(page.store.line(record).dropLast()) } else { json.null() }
                    }
                }
            }
        }
    }
}

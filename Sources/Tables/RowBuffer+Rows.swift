import Analysis
import Framing
import Streams
import Trace

// The rows of the tables, value by value, as `Table.columns` lists them.

extension RowBuffer {
    /// A finding, or what else a trace says of a connection.
    mutating func finding(
        _ leg: Leg?, _ from: Direction, _ time: Timestamp, _ kind: String, _ severity: Finding.Severity = .info,
        _ message: String? = nil, data: (inout [UInt8]) -> Void
    ) {
        text(leg?.rawValue)
        sender(from)
        self.time(time)
        text(kind)
        text(severity.rawValue)
        text(message)
        text(data)
    }

    /// A finding.
    mutating func finding(_ finding: borrowing Finding) {
        text(finding.leg?.rawValue)
        sender(finding.from)
        time(finding.time)
        text(finding.kind.rawValue)
        text(finding.severity.rawValue)
        text(finding.message)
        let data = beginText()
        finding.writeData(into: &bytes)
        endText(data)
    }

    /// A request and its answer.
    mutating func roundTrip(_ trip: borrowing RoundTripMonitor.RoundTrip) {
        text(trip.format)
        text(trip.request)
        text(trip.answer)
        sender(trip.from)
        integer(trip.requestIndex)
        integer(trip.answerIndex)
        time(trip.requested)
        integer(Int(trip.time.nanoseconds))
    }

    /// A connection, or one of its legs.
    mutating func connection(
        _ opening: Opening, _ ends: ConnectionTexts, _ pending: borrowing PendingConnection,
        _ ending: PendingConnection.LegEnding
    ) {
        text(ending.leg?.rawValue)
        text(ends.client)
        text(ends.server)
        text(ConnectionTexts.address(of: ends.client))
        text(ConnectionTexts.address(of: ends.server))
        time(opening.time)
        time(ending.closing.time)
        boolean(opening.handshake)
        boolean(opening.clientGuessed)
        // Both legs have the format that one of them is known by.
        let format = ending.format ?? pending.endings.lazy.compactMap(\.format).first
        text(format?.name)
        text(format?.by)
        text(pending.tls)
        text(ending.closing.reason.rawValue)
        text(ending.closing.by?.sender)
        text(ending.closing.detail)
        for direction in Direction.allCases {
            let counts = ending.counts[direction]
            integer(counts.bytes)
            integer(counts.framed)
            integer(counts.unframed)
            integer(counts.padding)
            integer(counts.missing)
            integer(counts.frames)
        }
    }

    /// What a frame's values before its type take at most, and what `ByteRoom` writes beyond them.
    private static let roomForFrame = 96

    /// A frame.
    mutating func frame(
        _ frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds, on connection: TracedConnection, bodyLimit: Int
    ) {
        let (info, leg) = (frame.info, connection.leg)
        // At once: most of a row's values are these, and each call would look for room.
        self.bytes.append(upTo: Self.roomForFrame) { room in
            room.text(leg.map { Self.name(of: $0) })
            room.text(Self.name(of: frame.direction))
            room.integer(info.index)
            room.integer(Int(info.time.nanoseconds))
            room.integer(Int(info.started.nanoseconds))
            room.integer(info.offset)
            room.integer(info.length)
            room.integer(info.missing == 0 ? nil : info.missing)
            room.integer(info.segments)
            room.put(info.merged ? 1 : 0)
        }
        text(kinds.type(of: frame, bytes))
        boolean(frame.isHeartbeat)
        texts { FrameContent.write(frame, bytes, kinds, bodyLimit: bodyLimit, separator: $1, into: &$0) }
    }
}

extension ByteRoom {
    fileprivate mutating func text(_ value: StaticString?) {
        guard let value else { return put(first: 4, of: 0) }
        put(first: 4, of: UInt64(value.utf8CodeUnitCount + 1))
        put(value)
    }

    fileprivate mutating func integer(_ value: Int?) {
        put(first: 8, of: UInt64(bitPattern: value.map { Int64($0) } ?? RowBuffer.null))
    }
}

/// What a trace says of bytes that are in no frame, as JSON.
enum RunText {
    static func write(_ gap: Gap, into bytes: inout [UInt8]) {
        bytes += "{\"offset\":\(gap.offset),\"length\":\(gap.byteCount)}".utf8
    }

    static func write(_ gap: Gap, reason: String, into bytes: inout [UInt8]) {
        write(gap.offset, gap.byteCount, reason, detail: nil, shown: nil, into: &bytes)
    }

    /// - Parameter shown: the bytes that may be shown.
    static func write(_ run: UnframedRun, detail: String, _ shown: [UInt8], into bytes: inout [UInt8]) {
        write(run.offset, run.byteCount, run.reason.rawValue, detail: detail, shown: shown, into: &bytes)
    }

    private static func write(
        _ offset: Int, _ length: Int, _ reason: String, detail: String?, shown: [UInt8]?, into bytes: inout [UInt8]
    ) {
        bytes += "{\"offset\":\(offset),\"length\":\(length),\"reason\":".utf8
        JSONOutput.string(reason, into: &bytes)
        bytes += ",\"detail\":".utf8
        if let detail { JSONOutput.string(detail, into: &bytes) } else { bytes += "null".utf8 }
        bytes += ",\"hex\":".utf8
        if let shown {
            bytes.append(UInt8(ascii: "\""))
            JSONOutput.hex(shown.span.bytes, into: &bytes)
            bytes.append(UInt8(ascii: "\""))
        } else {
            bytes += "null".utf8
        }
        bytes.append(UInt8(ascii: "}"))
    }
}

extension Finding {
    /// Writes its data as JSON, without the numbers of packets and connections: those of one trace mean nothing in a table.
    func writeData(into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "{"))
        var isFirst = true
        for field in data where !Self.isNumber(field) {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            JSONOutput.string(field.name, into: &bytes)
            bytes.append(UInt8(ascii: ":"))
            JSONOutput.value(field.value, into: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    private static func isNumber(_ field: Field) -> Bool {
        guard case .integer = field.value else { return false }
        switch field.name {
        case "packet", "lastPacket", "requestPacket", "oldestPacket", "sentPacket", "firstConnection": return true
        default: return false
        }
    }
}

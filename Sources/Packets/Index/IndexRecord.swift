import Streams

/// What an index has.
package enum IndexRecord: Hashable, Sendable {
    /// A connection, or a part of one.
    case connection(IndexedConnection)
    /// Places that are read whichever connections are: file headers, descriptions of interfaces, secrets, statistics.
    case places([Range<Int>])
    /// The last one.
    case end(IndexEnd)
}

/// A connection, or a part of one, in an index: the packets between two ends.
package struct IndexedConnection: Hashable, Sendable {
    /// What was seen of its end.
    package struct Ending: OptionSet, Hashable, Sendable {
        package let rawValue: UInt8

        /// A set from the bits of a record's flags.
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The lower end sent a FIN.
        package static let lowerFinished = Ending(rawValue: 2)
        /// The upper end sent a FIN.
        package static let upperFinished = Ending(rawValue: 4)
        /// One end sent a RST.
        package static let reset = Ending(rawValue: 8)
        /// Another record continues this one.
        package static let continues = Ending(rawValue: 16)

        fileprivate static let all: Ending = [.lowerFinished, .upperFinished, .reset, .continues]
    }

    /// Its ends.
    package var ends: ConnectionEnds
    /// The time of the earliest packet.
    package var first: Timestamp
    /// The time of the latest packet.
    package var last: Timestamp
    /// How many packets.
    package var packets = 0
    /// How many bytes of TCP payload they have, retransmitted ones included.
    package var payload = 0
    /// Where the last packet begins.
    package var lastPlace = 0
    /// What was seen of its end.
    package var ending: Ending = []
    /// Where its packets are: bytes from the start of the file. Other packets may lie in between; one that has no time needs the one
    /// that dates it.
    package var extents: [Range<Int>] = []

    /// A connection without packets.
    package init(_ ends: ConnectionEnds, at time: Timestamp) {
        (self.ends, first, last) = (ends, time, time)
    }

    /// Where the first packet begins.
    package var firstPlace: Int { extents.first?.lowerBound ?? lastPlace }

    /// When it ended; the distant future if its end was not seen.
    package var ended: Timestamp { isOver ? last : .distantFuture }

    /// Whether its end was seen, or is in another record.
    package var isOver: Bool {
        ending.contains(.continues) || ending.isSuperset(of: [.lowerFinished, .upperFinished])
    }
}

/// What an index says of the whole capture.
package struct IndexEnd: Hashable, Sendable {
    /// How many packets there are, of all kinds.
    package var packets = 0
    /// How many connections were begun. One that pauses in a large capture may count more than once.
    package var connections = 0
    /// How many bytes of the file could be read.
    package var readable = 0
    /// The times of the earliest and the latest packet; nil if none has a time.
    package var times: ClosedRange<Timestamp>?

    /// An empty capture.
    package init() {}
}

extension IndexRecord {
    /// Appends the record.
    func append(to bytes: inout [UInt8]) {
        switch self {
        case .connection(let connection): Self.write(connection, to: &bytes)
        case .places(let extents):
            bytes.append(IndexFormat.Kind.places)
            bytes.append(extents: extents)
        case .end(let end):
            bytes.append(IndexFormat.Kind.end)
            bytes.append(varint: UInt64(end.packets))
            bytes.append(varint: UInt64(end.connections))
            bytes.append(varint: UInt64(end.readable))
            bytes.append(end.times == nil ? 0 : 1)
            guard let times = end.times else { return }
            bytes.append(signed: times.lowerBound.nanoseconds)
            bytes.append(signed: times.upperBound.nanoseconds)
        }
    }

    private static func write(_ connection: IndexedConnection, to bytes: inout [UInt8]) {
        let ends = [connection.ends.lower, connection.ends.upper]
        let isIPv4 = ends.allSatisfy { $0.address.isIPv4 }
        bytes.append(IndexFormat.Kind.connection)
        bytes.append(connection.ending.rawValue | (isIPv4 ? 0 : 1))
        for end in ends {
            if isIPv4 {
                bytes.append(network: end.address.low, 4)
            } else {
                // An IPv4 end of a connection whose other end is not is IPv4-mapped; it is unmapped when it is read.
                let prefix: UInt64 = end.address.isIPv4 ? 0xffff << 32 : 0
                bytes.append(network: end.address.high, 8)
                bytes.append(network: prefix | end.address.low, 8)
            }
            bytes.append(network: UInt64(end.port), 2)
        }
        bytes.append(signed: connection.first.nanoseconds)
        bytes.append(signed: connection.last.nanoseconds &- connection.first.nanoseconds)
        bytes.append(varint: UInt64(connection.packets))
        bytes.append(varint: UInt64(connection.payload))
        bytes.append(extents: connection.extents)
        bytes.append(signed: Int64(connection.lastPlace &- (connection.extents.first?.lowerBound ?? 0)))
    }

    /// Reads a record.
    init(_ cursor: inout IndexCursor) throws(CaptureError) {
        switch try cursor.byte() {
        case IndexFormat.Kind.connection: self = .connection(try Self.readConnection(&cursor))
        case IndexFormat.Kind.places: self = .places(try cursor.extents())
        case IndexFormat.Kind.end: self = .end(try Self.readEnd(&cursor))
        case let other: throw cursor.error(expected: "a record of kind 1 to 3", found: "kind \(other)")
        }
    }

    private static func readConnection(_ cursor: inout IndexCursor) throws(CaptureError) -> IndexedConnection {
        let flags = try cursor.byte()
        let isIPv4 = flags & 1 == 0
        let one = try readEndpoint(isIPv4, &cursor)
        let other = try readEndpoint(isIPv4, &cursor)
        let first = Timestamp(nanoseconds: try cursor.signed())
        var connection = IndexedConnection(ConnectionEnds(one, other), at: first)
        connection.last = Timestamp(nanoseconds: first.nanoseconds &+ (try cursor.signed()))
        connection.packets = try cursor.count()
        connection.payload = try cursor.count()
        connection.ending = IndexedConnection.Ending(rawValue: flags).intersection(.all)
        connection.extents = try cursor.extents()
        let distance = Int(truncatingIfNeeded: try cursor.signed())
        connection.lastPlace = (connection.extents.first?.lowerBound ?? 0) &+ distance
        return connection
    }

    private static func readEndpoint(_ isIPv4: Bool, _ cursor: inout IndexCursor) throws(CaptureError) -> Endpoint {
        let address: IPAddress
        if isIPv4 {
            address = IPAddress(v4: UInt32(truncatingIfNeeded: try cursor.number(4)))
        } else {
            let high = try cursor.number(8)
            address = IPAddress(v6: high, try cursor.number(8))
        }
        return Endpoint(address, UInt16(truncatingIfNeeded: try cursor.number(2)))
    }

    private static func readEnd(_ cursor: inout IndexCursor) throws(CaptureError) -> IndexEnd {
        var end = IndexEnd()
        end.packets = try cursor.count()
        end.connections = try cursor.count()
        end.readable = try cursor.count()
        guard try cursor.byte() != 0 else { return end }
        let first = Timestamp(nanoseconds: try cursor.signed())
        let last = Timestamp(nanoseconds: try cursor.signed())
        guard first <= last else { throw cursor.error(expected: "times in order", found: "the later one first") }
        end.times = first...last
        return end
    }
}

extension [UInt8] {
    /// Appends the low `size` bytes of a number in network byte order.
    fileprivate mutating func append(network number: UInt64, _ size: Int) {
        for place in (0..<size).reversed() { append(UInt8(truncatingIfNeeded: number >> UInt64(8 * place))) }
    }
}

import Streams
import Testing

@testable import Packets

/// Chunks of an index that have nothing of interest are passed over, and no others.
@Suite struct IndexFilterTests {
    @Test(arguments: [0, 1, 2, 100, 5_000])
    func whatWasAddedIsFound(count: Int) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        let hashes = Set((0..<count).map { _ in random.next() })
        let filter = IndexFilter(hashes)
        #expect(hashes.allSatisfy(filter.mayContain), "seed \(seed)")
        let others = (0..<10_000).filter { _ in filter.mayContain(random.next()) }
        // One in a hundred is expected.
        #expect(others.count < 250, "seed \(seed)")
        #expect(filter.bytes.count <= max(8, count * 5 / 4))
    }

    /// Counts what is read.
    struct CountedSource: SkippableSource {
        var bytes: ArraySlice<UInt8>
        var count = 0

        mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Never) -> Int {
            let taken = min(buffer.count, bytes.count)
            buffer.copyBytes(from: bytes.prefix(taken))
            bytes = bytes.dropFirst(taken)
            count += taken
            return taken
        }

        mutating func skip(_ count: Int) throws(Never) { bytes = bytes.dropFirst(count) }
    }

    private static func connections(_ count: Int, _ random: inout SeededRandom) -> [IndexedConnection] {
        (0..<count).map { number in
            let client = Endpoint(
                IPAddress(v4: 0x0a00_0000 | UInt32(number / 7)), UInt16(truncatingIfNeeded: 1_024 + number))
            let server = Endpoint(number % 5 == 0 ? IPAddress(v6: 1, 2) : IPAddress(v4: 0x0a63_0000), 443)
            let time = Timestamp(nanoseconds: Int64(number) * 1_000)
            var connection = IndexedConnection(ConnectionEnds(client, server), at: time)
            connection.last = time + .milliseconds(Int64.random(in: 0...9, using: &random))
            connection.extents = [number * 1_000..<number * 1_000 + 500]
            connection.ending = number < 4_000 && number % 500 == 0 ? [] : [.lowerFinished, .upperFinished]
            return connection
        }
    }

    private static func index(_ connections: [IndexedConnection]) -> [UInt8] {
        var bytes = IndexHeader(size: 1 << 30, modified: 1, isCompressed: false).bytes
        var (writer, others) = (IndexChunkWriter(), IndexChunkWriter())
        for connection in connections { bytes += writer.add(.connection(connection)) }
        bytes += writer.close()
        bytes += others.add(.places([0..<24]))
        bytes += others.add(.end(IndexEnd()))
        return bytes + others.close()
    }

    /// The records of those chunks that are wanted, and how many bytes were read.
    private static func read(
        _ index: [UInt8], where isWanted: (IndexChunk) -> Bool
    ) throws -> (records: [IndexRecord], count: Int) {
        var counted = 0
        var records: [IndexRecord] = []
        var reader = IndexReader(CountedSource(bytes: index[...]))
        _ = try reader.header()
        while let next = try reader.next(where: isWanted) {
            records += next
            counted = reader.source.count
        }
        return (records, counted)
    }

    @Test func everyConnectionAndHostIsFound() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        let connections = Self.connections(20_000, &random)
        let index = Self.index(connections)
        #expect(try Self.read(index) { _ in true }.records.count == connections.count + 2)
        for _ in 0..<200 {
            let connection = try #require(connections.randomElement(using: &random))
            let ends = Set([connection.ends])
            let one = ConnectionSelection(ends: ends)
            let (records, count) = try Self.read(index) { $0.mayContain(one) }
            #expect(records.contains(.connection(connection)), "seed \(seed)")
            #expect(records.contains(.places([0..<24])) && records.contains(.end(IndexEnd())))
            #expect(count < index.count / 2, "seed \(seed)")
            // The client's host has seven connections; the server's is in all chunks.
            let client = [connection.ends.lower, connection.ends.upper].first { $0.port != 443 }
            let host = ConnectionSelection(hosts: [try #require(client).address])
            let ofHost = try Self.read(index) { $0.mayContain(host) }
            #expect(ofHost.count < index.count / 2, "seed \(seed)")
            for other in connections where host.contains(other.ends) {
                #expect(ofHost.records.contains(.connection(other)), "seed \(seed)")
            }
            let both = ConnectionSelection(ends: ends, hosts: [try #require(client).address])
            #expect(try Self.read(index) { $0.mayContain(both) }.records.contains(.connection(connection)))
        }
        let server = ConnectionSelection(hosts: [IPAddress(v6: 1, 2)])
        #expect(try Self.read(index) { $0.mayContain(server) }.records.count == connections.count + 2)
        let none = ConnectionSelection(hosts: [IPAddress(v4: 0x0a63_0001)])
        #expect(try Self.read(index) { $0.mayContain(none) }.count < index.count / 5)
        #expect(try Self.read(index) { $0.mayContain(ConnectionSelection()) }.count == index.count)
    }

    @Test func theTimesOfAChunkAreThoseOfItsConnections() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        let index = Self.index(Self.connections(20_000, &random))
        var reader = IndexReader(CountedSource(bytes: index[...]))
        _ = try reader.header()
        var chunk: IndexChunk?
        var kinds: Set<Bool> = []
        while let records = try reader.next(where: {
            chunk = $0; return true
        }) {
            var connections: [IndexedConnection] = []
            for case .connection(let connection) in records { connections.append(connection) }
            if connections.isEmpty { continue }
            let isOpen = connections.contains { !$0.isOver }
            kinds.insert(isOpen)
            #expect(chunk?.earliest == connections.map(\.first).min())
            #expect(chunk?.latest == (isOpen ? .distantFuture : connections.map(\.last).max()), "seed \(seed)")
        }
        #expect(kinds == [true, false], "seed \(seed)")
    }

    @Test func everyConnectionOfATimeIsFound() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        let connections = Self.connections(20_000, &random)
        let index = Self.index(connections)
        var passedOver = 0
        // Connections last at most 9 ms; those without an end last until the end of the capture.
        for times in [
            TimeSelection(), TimeSelection(since: connections[19_000].first + .seconds(10)),
            TimeSelection(until: connections[1_000].first),
            TimeSelection(since: connections[19_999].last + .seconds(11), until: connections[9_000].first),
        ] {
            let (records, count) = try Self.read(index) { times.mayContain($0) }
            let wanted = connections.filter { times.contains($0) }
            #expect(Set(records).isSuperset(of: wanted.map { .connection($0) }), "\(times), seed \(seed)")
            passedOver += index.count - count
        }
        #expect(passedOver > index.count, "seed \(seed)")
    }

    @Test func timesOfConnections() {
        func connection(_ first: Int64, _ last: Int64, _ ending: IndexedConnection.Ending) -> IndexedConnection {
            var connection = IndexedConnection(
                ConnectionEnds(between: IPAddress(v4: 1), IPAddress(v4: 2)),
                at: Timestamp(seconds: first, nanoseconds: 0))
            connection.last = Timestamp(seconds: last, nanoseconds: 0)
            connection.ending = ending
            return connection
        }
        func times(_ since: Int64?, _ until: Int64?) -> TimeSelection {
            TimeSelection(
                since: since.map { Timestamp(seconds: $0, nanoseconds: 0) },
                until: until.map { Timestamp(seconds: $0, nanoseconds: 0) })
        }
        let over: IndexedConnection.Ending = [.lowerFinished, .upperFinished]
        #expect(times(110, nil).contains(connection(50, 100, over)))
        #expect(!times(111, nil).contains(connection(50, 100, over)))
        for open: IndexedConnection.Ending in [[], .reset, .lowerFinished, [.upperFinished, .reset]] {
            #expect(times(5_000, nil).contains(connection(50, 100, open)))
        }
        // The record that continues it has the rest.
        #expect(!times(111, nil).contains(connection(50, 100, .continues)))
        #expect(times(nil, 51).contains(connection(50, 100, over)))
        #expect(!times(nil, 50).contains(connection(50, 100, over)))
        #expect(!times(60, 50).contains(connection(50, 100, [])))
        #expect(times(60, 70).contains(connection(50, 100, over)))
    }

    /// What indexes that were written have: if it changes, so does the version of the format.
    @Test func aFilterHasTheseBytes() throws {
        let one = ConnectionEnds(
            Endpoint(IPAddress(v4: 0x0a00_0001), 40_000), Endpoint(IPAddress(v4: 0x0a00_0002), 443))
        // The client's address is IPv4-mapped.
        let other = ConnectionEnds(
            Endpoint(IPAddress(v6: 0x2001_0db8_0000_0000, 1), 443),
            Endpoint(IPAddress(v6: 0, 0xffff_0a00_0001), 40_001))
        var writer = IndexChunkWriter()
        _ = writer.add(.connection(IndexedConnection(one, at: Timestamp(nanoseconds: 1))))
        _ = writer.add(.connection(IndexedConnection(other, at: Timestamp(nanoseconds: 2))))
        let chunk = writer.close()
        #expect(chunk[4..<8] == [8, 0, 0, 0])
        #expect(Hexadecimal.text(Array(chunk[32..<40])) == "83633c3ce049be12")
    }

    /// Heads whose checksums are right.
    @Test func heads() throws {
        func index(length: Int, filter: Int, records: [UInt8]) -> [UInt8] {
            var bytes = IndexHeader(size: 1, modified: 1, isCompressed: false).bytes
            var head: [UInt8] = []
            head.append(first: 4, of: UInt64(length))
            head.append(first: 4, of: UInt64(filter))
            head += [UInt8](repeating: 0, count: 16)
            head.append(first: 4, of: UInt64(IndexFormat.checksum(records)))
            let bits = [UInt8](repeating: 0xff, count: filter)
            head.append(first: 4, of: UInt64(IndexFormat.checksum(head + bits)))
            bytes += head
            bytes += bits
            return bytes + records
        }
        func damage(_ bytes: [UInt8]) -> CaptureError? { IndexedCapture.read(bytes).error }
        var end: [UInt8] = []
        IndexRecord.end(IndexEnd()).append(to: &end)
        #expect(damage(index(length: end.count, filter: 0, records: end)) == nil)
        #expect(damage(index(length: 1 << 20, filter: 0, records: end))?.kind == .truncated)
        #expect(damage(index(length: (1 << 20) + 1, filter: 0, records: end))?.kind == .badLength)
        #expect(damage(index(length: end.count, filter: (64 << 10) + 1, records: end))?.kind == .badLength)
        #expect(damage(index(length: 0, filter: 64 << 10, records: []))?.kind == .truncated)
        // A chunk that may be passed over has nothing that everybody reads.
        #expect(
            damage(index(length: end.count, filter: 3, records: end))?.expected
                == "only connections in a chunk with a filter")
    }

    @Test func whatIsTruncatedIsFoundAlthoughItIsPassedOver() throws {
        var random = SeededRandom(seed: 1)
        let index = Self.index(Self.connections(3_000, &random))
        for length in stride(from: 33, to: index.count, by: 97) {
            #expect(throws: CaptureReadFailure<Never>.self, "\(length) bytes") {
                try Self.read(Array(index[..<length])) { _ in false }
            }
        }
        #expect(try Self.read(index) { _ in false }.records == [.places([0..<24]), .end(IndexEnd())])
    }
}

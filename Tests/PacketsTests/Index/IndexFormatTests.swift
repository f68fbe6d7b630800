import Streams
import Testing

@testable import Packets

/// An index is read as it was written, and what is damaged is found.
@Suite struct IndexFormatTests {
    private static func connection(_ random: inout SeededRandom) -> IndexedConnection {
        // One end may be IPv4-mapped in packets of IPv6: then it is an IPv4 address, and the other is not.
        func endpoint(_ random: inout SeededRandom) -> Endpoint {
            let isIPv4 = Bool.random(using: &random)
            let address = isIPv4 ? IPAddress(v4: random.word()) : IPAddress(v6: random.next(), random.next())
            return Endpoint(address, UInt16(truncatingIfNeeded: random.next()))
        }
        let (one, other) = (endpoint(&random), endpoint(&random))
        let time = Timestamp(nanoseconds: Int64(bitPattern: random.next()))
        var connection = IndexedConnection(ConnectionEnds(one, other), at: time)
        connection.last = Timestamp(nanoseconds: Int64(bitPattern: random.next()))
        connection.packets = Int(random.word())
        connection.payload = Int(random.next() >> 3)
        let endings: [IndexedConnection.Ending] = [[], .reset, .lowerFinished, [.upperFinished, .continues]]
        connection.ending = endings.randomElement(using: &random) ?? []
        var end = 0
        for _ in 0..<Int.random(in: 0...70, using: &random) {
            let start = end + Int(random.next() >> UInt64.random(in: 10...60, using: &random))
            end = start + 1 + Int(random.word() >> 8)
            connection.extents.append(start..<end)
        }
        connection.lastPlace = end
        return connection
    }

    @Test func recordsAreReadAsTheyWereWritten() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        for _ in 0..<300 {
            var end = IndexEnd()
            end.packets = Int(random.word())
            if Bool.random(using: &random) { end.times = Timestamp(nanoseconds: .min)...Timestamp(nanoseconds: .max) }
            let records: [IndexRecord] = [
                .connection(Self.connection(&random)), .places([0..<24, 30..<1 << 40]), .places([]), .end(end),
            ]
            var bytes: [UInt8] = []
            for record in records { record.append(to: &bytes) }
            var cursor = IndexCursor(bytes, base: 0)
            for record in records { #expect(try IndexRecord(&cursor) == record, "seed \(seed)") }
            #expect(cursor.isAtEnd, "seed \(seed)")
        }
    }

    @Test(arguments: [0, 1, 127, 128, 300, 1 << 62, UInt64.max])
    func numbersOfAnySize(number: UInt64) throws {
        var bytes: [UInt8] = []
        bytes.append(varint: number)
        bytes.append(signed: Int64(bitPattern: number))
        bytes.append(signed: -Int64(number >> 1))
        var cursor = IndexCursor(bytes, base: 0)
        #expect(try cursor.varint() == number)
        #expect(try cursor.signed() == Int64(bitPattern: number))
        #expect(try cursor.signed() == -Int64(number >> 1))
        var tooLong = IndexCursor([UInt8](repeating: 0xff, count: 9) + [2], base: 0)
        #expect(throws: CaptureError.self) { try tooLong.varint() }
    }

    static let capture: [UInt8] = {
        var random = SeededRandom(seed: 5)
        return RandomTraffic(&random).files(&random, count: 1)[0]
    }()

    @Test func headers() throws {
        let header = IndexHeader(size: 1 << 40, modified: -5, isCompressed: true)
        #expect(header.bytes.count == 32)
        #expect(try IndexHeader(header.bytes) == header)
        #expect(IndexHeader.isIndex(header.bytes) && !IndexHeader.isIndex([0x66]))
    }

    /// Version 1 had wrong addresses, version 2 no filters: such an index is not used.
    @Test(arguments: [1, 2, 4] as [UInt8])
    func indexesOfOtherVersionsAreRefused(version: UInt8) {
        var bytes = IndexHeader(size: 1_000, modified: 1, isCompressed: false).bytes.dropLast(4)
        #expect(bytes[8..<10] == [3, 0])
        bytes[8] = version
        var header = Array(bytes)
        header.append(first: 4, of: UInt64(IndexFormat.checksum(header)))
        let error = CaptureError(kind: .unknownVariant, offset: 8, expected: "version 3", found: "version \(version)")
        #expect(throws: error) { try IndexHeader(header) }
    }

    @Test func anyPiecesGiveTheSame() {
        let index = IndexedCapture(Self.capture)
        for size in [1, 2, 7, 31, 33, 1000] {
            #expect(IndexedCapture.read(index.bytes, sizes: [size]).records == index.records)
            #expect(IndexedCapture(Self.capture, sizes: [size]).records == index.records)
        }
    }

    @Test func whatIsMissingIsReported() {
        let bytes = IndexedCapture(Self.capture).bytes
        for length in 0..<bytes.count {
            #expect(IndexedCapture.read(Array(bytes[..<length])).error != nil, "\(length) bytes")
        }
    }

    @Test func whatIsDamagedIsReported() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        let bytes = IndexedCapture(Self.capture).bytes
        for place in bytes.indices {
            var damaged = bytes
            damaged[place] ^= UInt8.random(in: 1...255, using: &random)
            #expect(IndexedCapture.read(damaged).error != nil, "byte \(place), seed \(seed)")
        }
        // Whatever records say, reading them ends.
        for _ in 0..<20_000 {
            let count = Int.random(in: 0...60, using: &random)
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            if count > 0 { bytes[0] = UInt8.random(in: 1...3, using: &random) }
            var cursor = IndexCursor(bytes, base: 0)
            while !cursor.isAtEnd, let record = try? IndexRecord(&cursor) {
                guard case .connection(let connection) = record else { continue }
                let pairs = zip(connection.extents, connection.extents.dropFirst())
                #expect(pairs.allSatisfy { $0.upperBound <= $1.lowerBound }, "seed \(seed)")
            }
        }
    }
}

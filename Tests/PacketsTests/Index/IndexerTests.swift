import Packets
import Streams
import Testing

/// What an index says suffices to read a connection as from the whole capture.
@Suite struct IndexerTests {
    private static func check(_ file: [UInt8], memoryLimit: Int, _ note: String) {
        let index = IndexedCapture(file, memoryLimit: memoryLimit)
        let all = Set(index.connections.map(\.ends))
        let whole = stories(of: [file])
        #expect(all.count >= whole.count, "\(note)")
        for ends in all {
            let selection = ConnectionSelection(ends: [ends])
            let part = stories(
                of: [index.part(of: selection)], selection: selection, until: index.end?.times?.upperBound)
            #expect(part == stories(of: [file], selection: selection), "\(note)")
        }
        let host = ConnectionSelection(hosts: [IPAddress(v4: UInt32(Headers.client + 17))])
        let part = stories(of: [index.part(of: host)], selection: host, until: index.end?.times?.upperBound)
        #expect(part == stories(of: [file], selection: host), "\(note)")
        #expect(part.count < whole.count && !part.isEmpty, "\(note)")
    }

    @Test(arguments: 0..<40)
    func aConnectionIsReadAsFromTheWhole(seed: Int) {
        var random = SeededRandom(seed: UInt64(2_000 + seed))
        for file in RandomTraffic(&random).files(&random, count: 2) {
            // With little memory, a connection has many records.
            for memoryLimit in [64 << 20, 1_000] { Self.check(file, memoryLimit: memoryLimit, "seed \(seed)") }
        }
    }

    /// Packets, bytes and places of a connection, its own alone.
    @Test func whatAConnectionHas() throws {
        var file = PcapFile()
        func add(_ payload: [UInt8], fromClient: Bool, flags: TCPFlags = .ack, port: Int = 40_000, at time: Int) {
            let tcp =
                fromClient
                ? Headers.tcp(payload, from: port, to: 80, flags: flags)
                : Headers.tcp(payload, from: 80, to: port, flags: flags)
            let (source, destination) =
                fromClient ? (Headers.client, Headers.server) : (Headers.server, Headers.client)
            file.add(Headers.ethernet(Headers.ipv4(tcp, from: source, to: destination)), at: time)
        }
        add([], fromClient: true, flags: .syn, at: 1)
        add([1, 2, 3], fromClient: false, at: 2)
        add([UInt8](repeating: 1, count: 9_000), fromClient: true, port: 40_001, at: 3)
        add([4, 5], fromClient: true, flags: [.ack, .fin], at: 4)
        add([], fromClient: false, flags: [.ack, .fin], at: 5)
        file.add(Headers.ethernet([], type: 0x0806), at: 6)
        let index = IndexedCapture(file.bytes)
        let places = read(file.bytes).log.packets.map(\.info.place)
        #expect(index.connections.count == 2)
        let ends = FlowFinderTests.ends
        let connection = try #require(index.connections.first { $0.ends == ends })
        #expect(connection.packets == 4 && connection.payload == 5)
        #expect(connection.first.nanoseconds == 1_000 && connection.last.nanoseconds == 5_000)
        #expect(connection.firstPlace == places[0].lowerBound && connection.lastPlace == places[4].lowerBound)
        #expect(
            connection.extents == [
                places[0].lowerBound..<places[1].upperBound, places[3].lowerBound..<places[4].upperBound,
            ])
        #expect(connection.isOver)
        let other = try #require(index.connections.first { $0.ends != ends })
        #expect(other.packets == 1 && other.payload == 9_000 && !other.isOver)
        #expect(index.end?.packets == 6 && index.end?.connections == 2 && index.end?.readable == file.bytes.count)
        #expect(index.end?.times == Timestamp(nanoseconds: 1_000)...Timestamp(nanoseconds: 6_000))
    }

    /// One end is an IPv4-mapped address, and the other an IPv6 address.
    @Test func endsOfDifferentFamilies() throws {
        let mapped = big(0, 10) + [0xff, 0xff, 10, 0, 0, 1]
        let other = big(0x2001_0db8, 4) + big(0, 8) + big(2, 4)
        var file = PcapFile(linkType: 229)
        func add(_ tcp: [UInt8], from source: [UInt8], to destination: [UInt8]) {
            let start: [UInt8] = [0x60, 0, 0, 0] + big(tcp.count, 2) + [6, 64]
            file.add(start + source + destination + tcp)
        }
        add(Headers.tcp([1], flags: [.ack, .fin]), from: mapped, to: other)
        add(Headers.tcp([2], from: 80, to: 40_000, flags: [.ack, .fin]), from: other, to: mapped)
        let index = IndexedCapture(file.bytes)
        let connection = try #require(index.connections.first)
        #expect(index.connections.count == 1)
        #expect(
            connection.ends
                == ConnectionEnds(
                    Endpoint(IPAddress(v4: 0x0a00_0001), 40_000),
                    Endpoint(IPAddress(v6: 0x2001_0db8_0000_0000, 2), 80)))
        #expect(connection.ending == [.lowerFinished, .upperFinished] && connection.isOver)
    }

    /// A packet without a time has that of the packet before it, whichever connection that belongs to.
    @Test func packetsWithoutTimesAreDatedAsInTheWhole() {
        var file = PcapngFile()
        file.interface()
        func frame(_ port: Int, _ sequence: UInt32) -> [UInt8] {
            Headers.ethernet(Headers.ipv4(Headers.tcp([7], from: port, sequence: sequence)))
        }
        file.packet(frame(40_000, 1), at: 1_000)
        // More than what is read because it lies in between.
        for index in 0..<200 { file.packet(frame(40_001, UInt32(1 + index)), at: 2_000 + index) }
        for sequence in UInt32(2)...3 {
            let undated = frame(40_000, sequence)
            file.simplePacket(undated, original: undated.count)
        }
        let bytes = file.file.bytes
        let selection = ConnectionSelection(ends: [FlowFinderTests.ends])
        let part = IndexedCapture(bytes).part(of: selection)
        #expect(part.count < bytes.count / 4)
        let whole = stories(of: [bytes], selection: selection)
        #expect(stories(of: [part], selection: selection) == whole && !whole.isEmpty)
    }

    /// Packets without times that have several records: each has what dates them, once.
    @Test func everyRecordOfPacketsWithoutTimesHasWhatDatesThem() {
        var file = PcapngFile()
        file.interface()
        func frame(_ port: Int, _ count: Int) -> [UInt8] {
            Headers.ethernet(Headers.ipv4(Headers.tcp([UInt8](repeating: 7, count: count), from: port)))
        }
        file.packet(frame(40_001, 1), at: 1_000)
        for _ in 0..<200 {
            // More than what is read because it lies in between.
            for (port, count) in [(40_001, 5_000), (40_000, 1)] {
                let undated = frame(port, count)
                file.simplePacket(undated, original: undated.count)
            }
        }
        let bytes = file.file.bytes
        let places = read(bytes).log.packets.map(\.info.place)
        let records = IndexedCapture(bytes).connections.filter { $0.ends == FlowFinderTests.ends }
        #expect(records.map(\.packets).reduce(0, +) == 200 && records.count == 4)
        #expect(records.allSatisfy { $0.extents.first == places.first && $0.extents.count == $0.packets + 1 })
    }

    /// Of a large capture with many connections at once, one connection needs little.
    @Test func oneConnectionOfManyTouchesFewBytes() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        var file = PcapFile()
        let payload = [UInt8](repeating: 7, count: 600)
        var sequences = [UInt32](repeating: 1, count: 600)
        for time in 0..<12_000 {
            let connection = Int.random(in: 0..<600, using: &random)
            let tcp = Headers.tcp(payload, from: 10_000 + connection, sequence: sequences[connection])
            sequences[connection] += 600
            file.add(Headers.ethernet(Headers.ipv4(tcp)), at: time)
        }
        let bytes = file.bytes
        let index = IndexedCapture(bytes, sizes: [1 << 16])
        #expect(Set(index.connections.map(\.ends)).count == 600, "seed \(seed)")
        for ends in Set(index.connections.map(\.ends)).prefix(20) {
            let read = index.extents(of: ConnectionSelection(ends: [ends])).reduce(0) { $0 + $1.count }
            #expect(read + index.bytes.count < bytes.count / 50, "\(read) bytes, seed \(seed)")
        }
    }

    /// A datagram whose last fragment is in the next capture.
    @Test func fragmentsOfIncompleteDatagramsAreReadInAnyCase() throws {
        var files = [PcapFile(), PcapFile()]
        for (time, piece) in [0..<40, 40..<80, 80..<120].enumerated() {
            files[time / 2].add(NetworkTests.fragment(piece), at: time)
        }
        let captures = files.map(\.bytes)
        let indexes = captures.map { IndexedCapture($0) }
        let ends = try #require(indexes[0].connections.first).ends
        let selection = ConnectionSelection(ends: [ends])
        let whole = stories(of: captures, selection: selection)
        #expect(stories(of: indexes.map { $0.part(of: selection) }, selection: selection) == whole && !whole.isEmpty)
    }

    @Test func whatComesBeforePacketsIsReadInAnyCase() {
        var file = PcapngFile(isBigEndian: true)
        file.interface(options: [(9, [9])])
        ShardedBlockTests.secrets("CLIENT_RANDOM 1\n", kind: 0x544c_534b, to: &file)
        let start = file.file.bytes.count
        for index in 0..<300 {
            let tcp = Headers.tcp([1, 2, 3], from: 40_000 + index)
            file.packet(Headers.ethernet(Headers.ipv4(tcp)), at: index)
        }
        let middle = file.file.bytes.count
        file.section(isBigEndian: false)
        file.interface(linkType: 228)
        let packet = file.file.bytes.count
        file.packet(Headers.ipv4(Headers.tcp([9], from: 7)), at: 1_000)
        let end = file.file.bytes.count
        file.statistics(end: 2_000)
        let index = IndexedCapture(file.file.bytes)
        let ends = ConnectionEnds(
            Endpoint(IPAddress(v4: 0x0a00_0001), 7), Endpoint(IPAddress(v4: 0x0a00_0002), 80))
        #expect(packet < end)
        #expect(index.extents(of: ConnectionSelection(ends: [ends])) == [0..<start, middle..<file.file.bytes.count])
    }

    /// A capture that cannot be read to its end fails in the same way when a part of it is read.
    @Test func damageIsFoundAgain() {
        var file = PcapFile()
        for port in 0..<5 { file.add(Headers.ethernet(Headers.ipv4(Headers.tcp([1], from: 40_000 + port)))) }
        let cut = Array(file.bytes.dropLast(3))
        let index = IndexedCapture(cut)
        #expect(index.damage?.kind == .truncated)
        let part = index.part(of: ConnectionSelection(ends: [FlowFinderTests.ends]))
        let (log, error) = read(part)
        #expect(log.packets.count == 1)
        #expect(error?.kind == index.damage?.kind && error?.found == index.damage?.found)
    }
}

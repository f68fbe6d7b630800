import Streams
import Testing

@testable import Packets

/// What packets belong to is found as the decoder finds it.
@Suite struct FlowFinderTests {
    static func info(_ bytes: [UInt8], linkType: Int = 1, milliseconds: Int64 = 0) -> PacketInfo {
        PacketInfo(
            number: 1, time: Timestamp(nanoseconds: 1_000_000 * milliseconds),
            linkType: LinkType(rawValue: UInt16(linkType)), capturedLength: bytes.count, originalLength: bytes.count)
    }

    static func find(_ bytes: [UInt8], in finder: inout FlowFinder, linkType: Int = 1, milliseconds: Int64 = 0)
        -> FlowFinder.Found
    {
        finder.find(info(bytes, linkType: linkType, milliseconds: milliseconds), bytes.span.bytes)
    }

    static let ends = ConnectionEnds(
        Endpoint(IPAddress(v4: 0x0a00_0001), 40_000), Endpoint(IPAddress(v4: 0x0a00_0002), 80))

    @Test(arguments: LinkLayerTests.links + LinkLayerTests.raw + LinkLayerTests.tunnels)
    func segmentsInEveryLayer(wrapping: LinkLayerTests.Wrapping) {
        var finder = FlowFinder()
        let found = Self.find(wrapping.bytes, in: &finder, linkType: wrapping.linkType)
        guard case .segment(let segment) = found else {
            Issue.record("\(found)")
            return
        }
        #expect(found.ends == Self.ends)
        #expect(segment.payloadLength == 5)
        // Truncated anywhere, it is something or nothing.
        for length in 0..<wrapping.bytes.count {
            let found = Self.find(Array(wrapping.bytes[..<length]), in: &finder, linkType: wrapping.linkType)
            if case .segment = found { #expect(found.ends == Self.ends) }
        }
    }

    @Test(arguments: LinkLayerTests.inIPv6)
    func segmentsInIPv6(wrapping: LinkLayerTests.Wrapping) {
        var finder = FlowFinder()
        let found = Self.find(wrapping.bytes, in: &finder, linkType: wrapping.linkType)
        #expect(found.ends?.upper.address == IPAddress(v6: 0x2001_0db8_0000_0000, 2))
    }

    @Test func otherPackets() {
        var finder = FlowFinder()
        let udp = Headers.ethernet(Headers.ipv4(Headers.udp([1], to: 53), protocol: 17))
        let ports = ConnectionEnds(
            Endpoint(IPAddress(v4: 0x0a00_0001), 50_000), Endpoint(IPAddress(v4: 0x0a00_0002), 53))
        #expect(Self.find(udp, in: &finder) == .other(ports))
        let hosts = ConnectionEnds(between: IPAddress(v4: 0x0a00_0001), IPAddress(v4: 0x0a00_0002))
        #expect(Self.find(Headers.ethernet(Headers.ipv4([8, 0], protocol: 1)), in: &finder) == .other(hosts))
        #expect(Self.find(Headers.ethernet(Headers.ipv4([1, 2])), in: &finder) == .other(hosts))
        #expect(Self.find(Headers.ethernet([], type: 0x0806), in: &finder) == .nothing)
        #expect(Self.find([1, 2, 3], in: &finder, linkType: 9_999) == .nothing)
    }

    /// The first fragment decides; those before it wait, those after it follow.
    @Test func fragmentsFollowTheFirst() {
        let pieces = [0..<40, 40..<80, 80..<120].map { NetworkTests.fragment($0) }
        var finder = FlowFinder()
        #expect(Self.find(pieces[1], in: &finder) == .waiting(datagram: 1))
        #expect(finder.takeSettled() == [])
        #expect(Self.find(pieces[0], in: &finder) == .part(Self.ends))
        #expect(finder.takeSettled() == [FlowFinder.Settled(1, .part(Self.ends))])
        #expect(Self.find(pieces[0], in: &finder) == .part(Self.ends))
        guard case .segment(let segment) = Self.find(pieces[2], in: &finder) else {
            Issue.record("not complete")
            return
        }
        #expect(segment.payloadLength == 100)
        // A copy is with its datagram, and something else of the next one with this identification.
        #expect(Self.find(pieces[2], in: &finder) == .part(Self.ends))
        let other = NetworkTests.fragment(80..<120, changed: true)
        #expect(Self.find(other, in: &finder) == .waiting(datagram: 2))
        #expect(finder.takeSettled() == [])
    }

    /// What was fragmented begins with an extension header; the first fragment says what comes after that, unless it is too short.
    @Test(arguments: [0..<40, 0..<8]) func fragmentsOfExtensionHeaders(first: Range<Int>) {
        let address = { (low: UInt64) in IPAddress(v6: 0x2001_0db8_0000_0000, low) }
        let ends = ConnectionEnds(Endpoint(address(1), 40_000), Endpoint(address(2), 80))
        var finder = FlowFinder()
        func find(_ range: Range<Int>) -> FlowFinder.Found {
            Self.find(NetworkTests.extendedFragment(range), in: &finder, linkType: 229)
        }
        #expect(find(80..<128) == .waiting(datagram: 1))
        let isDecided = first.count > 8
        let expected: FlowFinder.Found = isDecided ? .part(ends) : .waiting(datagram: 1)
        let settled = [FlowFinder.Settled(1, .part(ends))]
        #expect(find(first) == expected)
        #expect(finder.takeSettled() == (isDecided ? settled : []))
        guard case .segment(let segment) = find(first.upperBound..<80) else {
            Issue.record("not complete")
            return
        }
        #expect(ConnectionEnds(segment.source, segment.destination) == ends && segment.payloadLength == 100)
        #expect(finder.takeSettled() == (isDecided ? [] : settled))
    }

    /// Fragments of a tunnel's packets wait until the packet inside is whole, even if that is a fragment as well.
    @Test func fragmentsInTunnels() {
        let inner = [0..<64, 64..<120].map { Array(NetworkTests.fragment($0).dropFirst(14)) }
        var random = SeededRandom(seed: 1)
        var finder = FlowFinder()
        var waiting: [Int] = []
        for (index, packet) in inner.reversed().enumerated() {
            let frames = RandomTraffic.fragments([0, 0, 8, 0] + packet, 47, 1, 2, 10 + index, &random)
            #expect(frames.count > 1)
            for frame in frames.dropLast() {
                guard case .waiting(let datagram) = Self.find(frame, in: &finder) else {
                    Issue.record("it does not wait")
                    return
                }
                waiting.append(datagram)
            }
            let found = Self.find(frames[frames.count - 1], in: &finder)
            if index == 0 {
                #expect(found == .waiting(datagram: 2))
                #expect(finder.takeSettled() == [FlowFinder.Settled(1, .waiting(datagram: 2))])
            } else {
                #expect(found.ends == Self.ends)
                let settled = finder.takeSettled()
                #expect(Set(settled.map(\.datagram)) == [2, 3])
                #expect(settled.allSatisfy { $0.found == .part(Self.ends) })
            }
        }
        #expect(Set(waiting) == [1, 3])
    }

    /// What was captured twice is with its connection both times, whichever part of the packet inside comes first.
    @Test(arguments: [false, true]) func copiesInTunnels(isReversed: Bool) {
        let inner = [0..<64, 64..<120].map { Array(NetworkTests.fragment($0).dropFirst(14)) }
        var random = SeededRandom(seed: 1)
        var frames: [[UInt8]] = []
        for (index, packet) in (isReversed ? inner.reversed() : inner).enumerated() {
            frames += RandomTraffic.fragments([0, 0, 8, 0] + packet, 47, 1, 2, 10 + index, &random)
        }
        var finder = FlowFinder()
        var segments = 0
        for frame in frames {
            let found = Self.find(frame, in: &finder)
            let copy = Self.find(frame, in: &finder)
            if case .segment = found {
                segments += 1
                #expect(copy == .part(Self.ends))
            } else {
                #expect(copy == found)
            }
        }
        #expect(segments == 1)
        for frame in frames { #expect(Self.find(frame, in: &finder) == .part(Self.ends)) }
    }

    @Test func fragmentsThatWereCutOff() {
        var finder = FlowFinder()
        #expect(Self.find(NetworkTests.fragment(0..<40), in: &finder) == .part(Self.ends))
        let last = NetworkTests.fragment(40..<120)
        let cut = Array(last.dropLast(30))
        var info = Self.info(cut)
        info.originalLength = last.count
        guard case .segment(let segment) = finder.find(info, cut.span.bytes) else {
            Issue.record("not complete")
            return
        }
        #expect(segment.payloadLength == 100)
    }

    /// Of too many incomplete datagrams the first are given up, in their order, even if all began at the same time.
    @Test func theFirstAreGivenUpFirst() {
        var finder = FlowFinder()
        func wait(_ identifications: ClosedRange<Int>, milliseconds: Int64) {
            for identification in identifications {
                let fragment = NetworkTests.fragment(40..<80, identification: identification)
                let found = Self.find(fragment, in: &finder, milliseconds: milliseconds)
                #expect(found == .waiting(datagram: identification))
            }
        }
        wait(1...1_044, milliseconds: 0)
        #expect(finder.takeSettled().map(\.datagram) == Array(1...20))
        // All others time out at once.
        wait(1_045...1_045, milliseconds: 60_001)
        #expect(finder.takeSettled().map(\.datagram) == Array(21...1_044))
    }

    @Test func whatStaysIncompleteIsGivenUp() {
        let hosts = ConnectionEnds(between: IPAddress(v4: 0x0a00_0001), IPAddress(v4: 0x0a00_0002))
        let piece = NetworkTests.fragment(40..<80)
        // At the end.
        var finder = FlowFinder()
        #expect(Self.find(piece, in: &finder) == .waiting(datagram: 1))
        finder.finish()
        #expect(finder.takeSettled() == [FlowFinder.Settled(1, .other(hosts))])
        // After a minute.
        #expect(Self.find(piece, in: &finder) == .waiting(datagram: 1))
        #expect(Self.find(piece, in: &finder, milliseconds: 60_001) == .waiting(datagram: 2))
        #expect(finder.takeSettled() == [FlowFinder.Settled(1, .other(hosts))])
        // Beyond a limit, the oldest; what comes after that goes the same way.
        finder = FlowFinder(limit: 3 * piece.count)
        for identification in 1...4 {
            let datagram = Self.find(NetworkTests.fragment(40..<80, identification: identification), in: &finder)
            #expect(datagram == .waiting(datagram: identification))
        }
        #expect(finder.takeSettled() == [FlowFinder.Settled(1, .other(hosts))])
        #expect(Self.find(NetworkTests.fragment(0..<40, identification: 1), in: &finder) == .other(hosts))
        // The same fragment, again and again.
        finder = FlowFinder(limit: 100 * piece.count)
        for _ in 0..<100 { #expect(Self.find(piece, in: &finder) == .waiting(datagram: 1)) }
        #expect(Self.find(piece, in: &finder) == .other(hosts))
        #expect(finder.takeSettled().count == 1)
    }
}

extension FlowFinder.Settled {
    fileprivate init(_ datagram: Int, _ found: FlowFinder.Found) { self.init(datagram: datagram, found: found) }
}

import Packets
import Streams
import Testing

/// Each link layer and tunnel around the same segment gives the same bytes of the same connection.
@Suite struct LinkLayerTests {
    struct Wrapping: CustomTestStringConvertible {
        var testDescription: String
        var linkType: Int
        var bytes: [UInt8]

        init(_ name: String, _ linkType: Int, _ bytes: [UInt8]) {
            (testDescription, self.linkType, self.bytes) = (name, linkType, bytes)
        }
    }

    static let ip = Headers.ipv4(Headers.tcp(Array("Hello".utf8)))
    static let frame = Headers.ethernet(ip)
    static let snap: [UInt8] = [0xaa, 0xaa, 3, 0, 0, 0, 8, 0] + ip
    /// An 802.11 header with QoS, and two bytes of padding.
    static let paddedHeader: [UInt8] = [0x88, 0x02] + big(0, 26)
    /// A radiotap header with a time and flags, and a second word that has no fields.
    static let timedRadiotap: [UInt8] =
        [0, 0, 25, 0, 3, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x20]

    static func inUDP(_ header: [UInt8], _ inner: [UInt8], _ port: Int) -> [UInt8] {
        Headers.ethernet(Headers.ipv4(Headers.udp(header + inner, to: port), protocol: 17, from: 1, to: 2))
    }

    static func inIP(_ number: Int, _ inner: [UInt8]) -> [UInt8] {
        Headers.ethernet(Headers.ipv4(inner, protocol: number, from: 1, to: 2))
    }

    static let links: [Wrapping] = [
        Wrapping("Ethernet", 1, frame),
        Wrapping("Ethernet with padding", 1, frame + [UInt8](repeating: 0, count: 9)),
        Wrapping("VLAN stack", 1, Headers.ethernet([0, 5, 0x81, 0, 0, 6, 0x81, 0, 0, 7, 8, 0] + ip, type: 0x88a8)),
        Wrapping("LLC and SNAP", 1, Headers.ethernet(snap, type: snap.count)),
        Wrapping("MPLS", 1, Headers.ethernet([0, 0, 0, 64, 0, 1, 1, 64] + ip, type: 0x8847)),
        Wrapping("MPLS pseudowire", 1, Headers.ethernet([0, 1, 1, 64, 0, 0, 0, 0] + frame, type: 0x8847)),
        Wrapping("PPPoE", 1, Headers.ethernet([0x11, 0, 0, 1] + big(ip.count + 2, 2) + [0, 0x21] + ip, type: 0x8864)),
        Wrapping("BSD loopback", 0, [2, 0, 0, 0] + ip),
        Wrapping("BSD loopback, big-endian", 0, [0, 0, 0, 2] + ip),
        Wrapping("OpenBSD loopback", 108, [0, 0, 0, 2] + ip),
        Wrapping("PPP", 9, [0xff, 3, 0, 0x21] + ip),
        Wrapping("PPP, compressed", 9, [0x21] + ip),
        Wrapping("PPP in HDLC", 50, [0xff, 3, 0, 0x21] + ip),
        Wrapping("Cisco HDLC", 104, [0x0f, 0, 8, 0] + ip),
        Wrapping("Linux cooked 1", 113, big(0, 2) + big(1, 2) + big(6, 2) + big(0, 8) + big(0x0800, 2) + ip),
        Wrapping("Linux cooked 2", 276, big(0x0800, 2) + big(0, 6) + big(1, 2) + big(0, 10) + ip),
        Wrapping("802.11", 105, [0x08, 0x01] + big(0, 22) + snap),
        Wrapping("802.11 with QoS, four addresses", 105, [0x88, 0x03] + big(0, 28) + big(0, 2) + snap),
        Wrapping("radiotap", 127, [0, 0, 10, 0] + big(0, 6) + [0x08, 0x02] + big(0, 22) + snap),
        Wrapping("radiotap, header padded", 127, [0, 0, 9, 0, 2, 0, 0, 0, 0x20] + paddedHeader + snap),
        Wrapping("radiotap with time and two words, header padded", 127, timedRadiotap + paddedHeader + snap),
        Wrapping("radiotap with other flags", 127, [0, 0, 9, 0, 2, 0, 0, 0, 0x10, 0x08, 0x02] + big(0, 22) + snap),
        Wrapping("802.11, aggregate", 105, AggregateMSDUTests.frame([ip])),
        Wrapping("prism", 119, [0x44, 0, 0, 0, 144, 0, 0, 0] + big(0, 136) + [0x08, 0x01] + big(0, 22) + snap),
        Wrapping("AVS", 163, big(0x8021_1001, 4) + big(64, 4) + big(0, 56) + [0x08, 0x01] + big(0, 22) + snap),
        Wrapping("PPI", 192, [0, 0, 8, 0, 105, 0, 0, 0, 0x08, 0x01] + big(0, 22) + snap),
        Wrapping("packet tap", 258, [16, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0] + frame),
        Wrapping("netfilter log", 239, [2, 0, 0, 0, 5, 0, 10, 0, 65, 0, 0, 0, UInt8(ip.count + 4), 0, 9, 0] + ip),
    ]
    static let raw: [Wrapping] = [12, 14, 101, 228].map { Wrapping("raw IP as \($0)", $0, ip) }
    static let tunnels: [Wrapping] = [
        Wrapping("GRE", 1, inIP(47, [0, 0, 8, 0] + ip)),
        Wrapping("GRE, all fields", 1, inIP(47, [0xb0, 0, 8, 0] + big(0, 12) + ip)),
        Wrapping("GRE bridging", 1, inIP(47, [0, 0, 0x65, 0x58] + frame)),
        Wrapping("PPTP", 1, inIP(47, [0x30, 0x81, 0x88, 0x0b] + big(0, 12) + [0xff, 3, 0, 0x21] + ip)),
        Wrapping("ERSPAN I", 1, inIP(47, [0, 0, 0x88, 0xbe] + frame)),
        Wrapping("ERSPAN II", 1, inIP(47, [0x10, 0, 0x88, 0xbe] + big(0, 4) + big(0, 8) + frame)),
        Wrapping("ERSPAN III", 1, inIP(47, [0x10, 0, 0x22, 0xeb] + big(0, 4) + big(0, 11) + [1] + big(0, 8) + frame)),
        Wrapping("IP in IP", 1, inIP(4, ip)),
        Wrapping("EtherIP", 1, inIP(97, [0x30, 0] + frame)),
        Wrapping("MPLS in IP", 1, inIP(137, [0, 0, 1, 64] + ip)),
        Wrapping("VXLAN", 1, inUDP([8, 0, 0, 0, 0, 0, 1, 0], frame, 4789)),
        Wrapping("GENEVE", 1, inUDP([1, 0, 0x65, 0x58, 0, 0, 1, 0, 9, 9, 9, 9], frame, 6081)),
        Wrapping("GTP-U", 1, inUDP([0x30, 255, 0, 0, 0, 0, 0, 1], ip, 2152)),
        Wrapping(
            "GTP-U with extension", 1, inUDP([0x34, 255, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0, 0, 0], ip, 2152)),
        Wrapping("4 in 6", 1, Headers.ethernet(Headers.ipv6(ip, next: 4), type: 0x86dd)),
    ]

    @Test(arguments: links + raw + tunnels)
    func carriesTheSegment(wrapping: Wrapping) {
        var file = PcapFile(linkType: wrapping.linkType)
        file.add(wrapping.bytes)
        let (log, counters) = events(of: file.bytes)
        guard case .opened(let opening) = log.events.first else {
            Issue.record("no connection, but \(counters)")
            return
        }
        #expect("\(opening.client) \(opening.server)" == "10.0.0.1:40000 10.0.0.2:80")
        #expect(log.bytes(of: 1, from: .fromClient) == Array("Hello".utf8))
        #expect(log.bytes(of: 1, from: .fromServer) == [])
        // Truncated anywhere, it is an event or nothing.
        for length in 0..<wrapping.bytes.count {
            var cut = PcapFile(linkType: wrapping.linkType)
            cut.add(Array(wrapping.bytes[..<length]))
            cut.add(Array(wrapping.bytes[..<length]), original: wrapping.bytes.count)
            #expect(Array("Hello".utf8).starts(with: events(of: cut.bytes).log.bytes(of: 1, from: .fromClient)))
        }
    }

    static let tcp = Headers.tcp(Array("Hello".utf8))
    static let inIPv6: [Wrapping] = [
        Wrapping("plain", 1, Headers.ethernet(Headers.ipv6(tcp), type: 0x86dd)),
        Wrapping("raw", 229, Headers.ipv6(tcp)),
        Wrapping("loopback", 0, [30, 0, 0, 0] + Headers.ipv6(tcp)),
        Wrapping("6in4", 1, inIP(41, Headers.ipv6(tcp))),
        Wrapping("Teredo", 1, inUDP([0, 0] + big(0, 6), Headers.ipv6(tcp), 3544)),
        Wrapping(
            "extension headers", 229,
            Headers.ipv6([60, 0] + big(0, 6) + [51, 1] + big(0, 14) + [6, 4] + big(0, 22) + tcp, next: 0)),
        Wrapping("atomic fragment", 229, Headers.ipv6([6, 0, 0, 0, 0, 0, 0, 9] + tcp, next: 44)),
        Wrapping("length 0", 229, Headers.ipv6(tcp, payloadLength: 0)),
    ]

    @Test(arguments: inIPv6)
    func carriesTheSegmentInIPv6(wrapping: Wrapping) {
        var file = PcapFile(linkType: wrapping.linkType)
        file.add(wrapping.bytes)
        let (log, _) = events(of: file.bytes)
        guard case .opened(let opening) = log.events.first else {
            Issue.record("no connection")
            return
        }
        #expect("\(opening.client) \(opening.server)" == "[2001:db8::1]:40000 [2001:db8::2]:80")
        #expect(log.bytes(of: 1, from: .fromClient) == Array("Hello".utf8))
    }

    /// A packet of every kind, each counted once.
    @Test func everyKindIsCounted() {
        let udp = Headers.udp([1], to: 53)
        var short = Headers.ipv4(Headers.tcp())
        short[0] = 0x41  // a header of 4 bytes
        let fragment = Headers.ethernet(
            Headers.ipv4([UInt8](repeating: 1, count: 8), identification: 1, fragment: 0x2000))
        let other = Headers.ethernet(Headers.ipv4([UInt8](repeating: 2, count: 8), identification: 1, fragment: 0x2000))
        let kinds: [(Skipped, Int, [[UInt8]])] = [
            (.linkType, 9999, [[1, 2, 3]]),
            (.arp, 1, [Headers.ethernet([], type: 0x0806)]),
            (.notIP, 1, [Headers.ethernet([1, 2], type: 0x88cc)]),
            (.llc, 1, [Headers.ethernet([0x42, 0x42, 3], type: 3)]),
            (.radioManagement, 105, [[0x80, 0] + big(0, 22)]),
            (.encrypted, 105, [[0x08, 0x41] + big(0, 22) + LinkLayerTests.snap]),
            (.udp, 1, [Headers.ethernet(Headers.ipv4(udp, protocol: 17))]),
            (.icmp, 1, [Headers.ethernet(Headers.ipv4([8, 0], protocol: 1))]),
            (.notTCP, 1, [Headers.ethernet(Headers.ipv4([1], protocol: 132))]),
            (.fragment, 1, [fragment]),
            (.malformed, 1, [Headers.ethernet(short)]),
            (.badChecksum, 1, [Headers.ethernet(Headers.ipv4(Headers.tcp()))]),
            (
                .tooDeep, 1,
                [Headers.ethernet((0..<30).reduce(LinkLayerTests.ip) { inner, _ in Headers.ipv4(inner, protocol: 4) })]
            ),
        ]
        for (kind, linkType, packets) in kinds {
            var file = PcapFile(linkType: linkType)
            for packet in packets { file.add(packet) }
            var options = ReassemblyOptions()
            options.verifiesChecksums = kind == .badChecksum
            #expect(events(of: file.bytes, options: options).counters.skipped == [kind: packets.count])
        }
        var file = PcapFile()
        for packet in [fragment, other] { file.add(packet) }
        #expect(events(of: file.bytes).counters.skipped == [.fragment: 2, .conflictingFragment: 1])
        #expect(
            Set(kinds.map(\.0)).union([
                .conflictingFragment, .closedConnection, .droppedByInterface, .droppedByKernel,
            ]) == Set(Skipped.allCases))
    }

    @Test func passedOverIsCounted() {
        var file = PcapFile()
        file.add(Headers.ethernet([], type: 0x0806))
        file.add(Headers.ethernet(Headers.ipv4(Headers.udp([1], to: 53), protocol: 17)))
        file.add(Headers.ethernet(Headers.ipv4([], protocol: 1)))
        file.add(Headers.ethernet([0x42, 0x42, 3], type: 3))
        file.add([1, 2, 3])
        file.add(Headers.ethernet((0..<30).reduce(LinkLayerTests.ip) { inner, _ in Headers.ipv4(inner, protocol: 4) }))
        let counters = events(of: file.bytes).counters
        #expect(counters.packets == 6)
        #expect(counters.segments == 0)
        #expect(
            counters.skipped == [.arp: 1, .udp: 1, .icmp: 1, .llc: 1, .malformed: 1, .tooDeep: 1])
    }
}

import Packets
import Streams
import TestSupport
import Testing

/// A datagram whose sender has determined its route is of a connection to its final destination, wherever it was captured.
@Suite struct SourceRouteTests {
    /// How the route is written.
    enum Kind: CaseIterable, Sendable {
        case loose, strict, type0, type2, type4

        var isIPv4: Bool { self == .loose || self == .strict }
    }

    private static let client = big(0x2001_0db8, 4) + big(0, 8) + big(1, 4)
    private static let server = big(0x2001_0db8, 4) + big(0, 8) + big(2, 4)
    private static let stop = big(0x2001_0db8, 4) + big(0, 8) + big(0x99, 4)

    /// A TCP segment with correct checksums on its way to the server: before the last stop, or after it.
    static func packet(_ kind: Kind, _ payload: [UInt8], sequence: UInt32, isThere: Bool) -> [UInt8] {
        var tcp = Headers.tcp(payload, sequence: sequence)
        let pseudo = (kind.isIPv4 ? big(Headers.client, 4) + big(Headers.server, 4) : client + server)
        tcp.replaceSubrange(16..<18, with: big(ChecksumTests.checksum(pseudo + big(6, 4) + big(tcp.count, 4) + tcp), 2))
        guard !kind.isIPv4 else {
            let addresses = big(0x0a00_0063, 4) + big(isThere ? 0x0a00_0064 : Headers.server, 4)
            let type: UInt8 = kind == .loose ? 131 : 137
            let options: [UInt8] = [1, type, 11, isThere ? 12 : 8] + addresses
            var ip = Headers.ipv4(tcp, to: isThere ? Headers.server : 0x0a00_0064, options: options)
            ip.replaceSubrange(10..<12, with: big(ChecksumTests.checksum(Array(ip[..<32])), 2))
            return Headers.ethernet(ip)
        }
        let last = isThere ? stop : server
        let left: UInt8 = isThere ? 0 : 1
        let routing: [UInt8] =
            switch kind {
            case .type2: [6, 2, 2, left] + big(0, 4) + last
            case .type4: [6, 4, 4, left, 1, 0, 0, 0] + server + stop
            default: [6, 4, 0, left] + big(0, 4) + stop + last
            }
        var ip = Headers.ipv6(routing + tcp, next: 43)
        ip.replaceSubrange(24..<40, with: isThere ? server : stop)
        return Headers.ethernet(ip, type: 0x86dd)
    }

    @Test(arguments: Kind.allCases, [false, true]) func theyAreOfOneConnection(kind: Kind, isChecked: Bool) {
        var file = PcapFile()
        file.add(Self.packet(kind, [1, 2, 3], sequence: 1, isThere: false))
        file.add(Self.packet(kind, [4, 5], sequence: 4, isThere: true))
        file.add(Self.packet(kind, [6], sequence: 6, isThere: false))
        var options = ReassemblyOptions()
        options.verifiesChecksums = isChecked
        let (log, counters) = events(of: file.bytes, options: options)
        #expect(log.bytes(of: 1, from: .fromClient) == [1, 2, 3, 4, 5, 6])
        #expect(counters.segments == 3 && counters.skipped.isEmpty)
        let servers = log.events.compactMap { event -> String? in
            if case .opened(let opening) = event { "\(opening.server)" } else { nil }
        }
        #expect(servers == [kind.isIPv4 ? "10.0.0.2:80" : "[2001:db8::2]:80"])
    }

    /// Whatever options and routing headers are, the packet is read, or is malformed.
    @Test func anyOptionsAreRead() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<2_000 {
            var file = PcapFile()
            let count = Int.random(in: 1...10, using: &generator)
            var bytes = generator.bytes(4 * count)
            bytes[0] = [131, 137, 1, bytes[0]].randomElement(using: &generator) ?? 0
            bytes[1] = Bool.random(using: &generator) ? UInt8.random(in: 0...44, using: &generator) : bytes[1]
            file.add(Headers.ethernet(Headers.ipv4(Headers.tcp([1]), options: bytes)))
            var routing = [6, UInt8(count - 1)] + generator.bytes(8 * count - 2)
            routing[2] = [0, 2, 4, routing[2]].randomElement(using: &generator) ?? 0
            file.add(Headers.ethernet(Headers.ipv6(routing + Headers.tcp([2]), next: 43), type: 0x86dd))
            let counters = events(of: file.bytes).counters
            #expect(counters.segments == 2 && counters.skipped.isEmpty, "seed \(seed), round \(round)")
        }
    }
}

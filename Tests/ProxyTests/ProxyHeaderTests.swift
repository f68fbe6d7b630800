import Streams
import TestSupport
import Testing

@testable import Proxy

/// The PROXY protocol's headers as bytes.
@Suite struct ProxyHeaderTests {
    private func read(_ bytes: [UInt8]) throws(ProxyHeaderFault) -> (header: ProxyHeader, byteCount: Int)? {
        try ProxyHeader.read(bytes.span.bytes)
    }

    private func endpoint(v4: Bool, using generator: inout SeededGenerator) -> Endpoint {
        let address =
            v4
            ? IPAddress(v4: .random(in: 0...UInt32.max, using: &generator))
            : IPAddress(v6: .random(in: 0...UInt64.max, using: &generator), .random(in: 0...9, using: &generator))
        return Endpoint(address, .random(in: 0...UInt16.max, using: &generator))
    }

    @Test(arguments: [ProxyProtocolUse.Version.v1, .v2])
    func whatIsWrittenIsReadHoweverItIsCut(_ version: ProxyProtocolUse.Version) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let v4 = Bool.random(using: &generator)
            let origin =
                Int.random(in: 0..<8, using: &generator) == 0
                ? ProxyHeader.Origin.connection
                : .named(
                    client: endpoint(v4: v4, using: &generator), server: endpoint(v4: v4, using: &generator))
            let header = ProxyHeader(origin: origin)
            let bytes = header.bytes(version)
            let stream = bytes + (0..<40).map { _ in UInt8.random(in: 0...255, using: &generator) }
            for length in 0..<bytes.count {
                #expect(try read(Array(stream[..<length])) == nil, "seed \(seed), \(length) of \(bytes.count) bytes")
            }
            for length in bytes.count...stream.count {
                let found = try #require(try read(Array(stream[..<length])), "seed \(seed)")
                #expect(found.header == header && found.byteCount == bytes.count, "seed \(seed)")
            }
        }
    }

    @Test func anyBytesAreReadTheSameOnceThatIsClear() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let beginnings: [[UInt8]] = [[], Array("PROXY ".utf8), Array("PROXY TCP4 ".utf8), ProxyHeaderV2.signature]
        for _ in 0..<2_000 {
            var bytes = beginnings.randomElement(using: &generator) ?? []
            let alphabet: [UInt8] = [13, 10, 32, 49, 46, 58, 0x21, 0x11, 0x20, 0, 4, 255]
            for _ in 0..<Int.random(in: 0..<130, using: &generator) {
                bytes.append(alphabet.randomElement(using: &generator) ?? 0)
            }
            // The first conclusive prefix decides for all longer ones.
            var first: Result<Int, ProxyHeaderFault>?
            for length in 0...bytes.count {
                let result = Result { () throws(ProxyHeaderFault) in try read(Array(bytes[..<length]))?.byteCount }
                switch (first, result) {
                case (nil, .success(let count?)): first = .success(count)
                case (nil, .failure(let fault)): first = .failure(fault)
                case (nil, .success(nil)): break
                case (.success(let count)?, .success(let other)): #expect(count == other, "seed \(seed)")
                case (.failure?, .failure): break
                default: Issue.record("seed \(seed): \(length) bytes of \(bytes) are read otherwise than fewer")
                }
            }
        }
    }

    @Test(arguments: [
        ("PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n", "192.168.0.1:56324", "192.168.0.11:443"),
        ("PROXY TCP6 ::1 2001:db8::2 1 65535\r\n", "[::1]:1", "[2001:db8::2]:65535"),
        (
            "PROXY TCP6 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
            "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535", "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]:65535"
        ),
    ]) func linesOfTheSpecification(_ line: String, _ client: String, _ server: String) throws {
        let found = try #require(try read(Array(line.utf8)))
        guard case .named(let from, let to) = found.header.origin else { return #expect(Bool(false)) }
        #expect("\(from)" == client && "\(to)" == server && found.byteCount == line.utf8.count)
    }

    @Test(arguments: [
        "PROXY UNKNOWN\r\n",
        "PROXY UNKNOWN ffff:f...f:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535\r\n",
    ]) func unknownKeepsTheConnectionsOwnAddresses(_ line: String) throws {
        let found = try #require(try read(Array(line.utf8)))
        #expect(found.header.origin == .connection && found.byteCount == line.utf8.count)
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\n", "PROXY\r\n", "PROXY TCP4\r\n", "PROXY UDP4 1.1.1.1 1.1.1.1 1 1\r\n", "proxy TCP4 ",
        "PROXY TCP4 1.1.1.1 1.1.1.1 1 65536\r\n", "PROXY TCP4 1.1.1.1 1.1.1.1 01 1\r\n",
        "PROXY TCP4 1.1.1.1 ::1 1 1\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 1 1 \r\n", "PROXY TCP4  1.1.1.1 1.1.1.1 1 1\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 +1 1\r\n",
        "PROXY TCP4 1.1.1.1 1.1.1.1 1 1\n", "PROXY UNKNOWN " + String(repeating: "x", count: 92) + "\r\n",
    ]) func whatIsNoHeaderIsRefusedWithAReason(_ text: String) {
        #expect(throws: ProxyHeaderFault.self) { try read(Array(text.utf8)) }
    }

    @Test func version2ChecksEveryByteOfItsBeginning() throws {
        func bytes(_ rest: [UInt8]) -> [UInt8] { ProxyHeaderV2.signature + rest }
        let wrong: [[UInt8]] = [
            [0x11], [0x22], [0x21, 0x41], [0x21, 0x13], [0x21, 0x11, 0, 11], [0x21, 0x21, 0, 35], [0x21, 0x31, 0, 215],
        ]
        for rest in wrong { #expect(throws: ProxyHeaderFault.self, "\(rest)") { try read(bytes(rest)) } }
        // LOCAL, no family and a Unix socket keep the connection's addresses; the announced bytes are removed.
        for start in [[0x20, 0x11, 0, 12], [0x21, 0x00, 0, 3], [0x21, 0x31, 0, 216], [0x21, 0x12, 1, 0]] as [[UInt8]] {
            let length = Int(start[2]) << 8 | Int(start[3])
            let whole = bytes(start) + [UInt8](repeating: 7, count: length)
            #expect(try read(Array(whole.dropLast())) == nil)
            let found = try #require(try read(whole))
            #expect(found.header.origin == .connection && found.byteCount == 16 + length)
        }
        // TLVs after the addresses are skipped.
        let named = ProxyHeader(
            origin: .named(client: Endpoint(IPAddress(v4: 1), 2), server: Endpoint(IPAddress(v4: 3), 4)))
        var extended = named.bytes(.v2)
        extended[15] += 4
        extended += [0x04, 0, 1, 0]
        #expect(try read(extended)?.byteCount == extended.count)
        #expect(try read(extended)?.header == named)
    }

    @Test func addressesOfTwoFamiliesBecomeIPv6() {
        let origin = ProxyHeader.Origin.named(
            client: Endpoint(IPAddress(v4: 0x0102_0304), 5), server: Endpoint(IPAddress(v6: 0, 1), 6))
        let line = String(decoding: ProxyHeader(origin: origin).bytes(.v1), as: UTF8.self)
        #expect(line == "PROXY TCP6 ::ffff:1.2.3.4 ::1 5 6\r\n")
    }
}

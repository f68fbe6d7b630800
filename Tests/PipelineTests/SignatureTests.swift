import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Protocols that are recognised but not framed are named.
@Suite struct SignatureTests {
    struct Beginning: CustomTestStringConvertible, Sendable {
        var format: String
        var bytes: [UInt8]
        var testDescription: String { "\(format) \(bytes.prefix(12))" }

        init(_ format: String, _ text: String) { (self.format, bytes) = (format, Array(text.utf8)) }

        init(_ format: String, _ bytes: [UInt8]) { (self.format, self.bytes) = (format, bytes) }
    }

    /// A record with a ClientHello or ServerHello of 80 bytes.
    static func hello(_ kind: UInt8, record: UInt8 = 1) -> [UInt8] {
        [22, 3, record, 0, 84, kind, 0, 0, 80, 3, 3] + (0..<78).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    }

    static let known = [
        Beginning("tls", hello(1)), Beginning("tls", hello(2, record: 3)),
        Beginning("http", "GET / HTTP/1.1\r\nHost: example.org\r\n\r\n"), Beginning("http", "M-SEARCH * HTTP/1.1\n\n"),
        Beginning("http", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello"),
        Beginning("http", "HTTP/1.0 404\r\n\r\n"),
        Beginning("http2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0"),
        Beginning("ssh", "SSH-2.0-OpenSSH_9.6\r\n"),
    ]

    @Test func everySignatureIsKnown() {
        #expect(Set(Self.known.map(\.format)) == Set(Signature.all.map(\.name)))
    }

    /// Whether more bytes are compared, whether they may be the beginning of a protocol, and whether there is a match.
    private func flags(_ text: String, isOver: Bool = false, bytewise: Bool = false) -> [Bool] {
        var probe = SignatureProbe()
        let bytes = Array(text.utf8)
        for range in bytewise ? bytes.indices.map({ $0..<$0 + 1 }) : [bytes.indices] {
            probe.receive(bytes.span.bytes.extracting(range))
        }
        if isOver { probe.finish() }
        #expect(probe.mayMatch == (probe.bestMatch != nil))
        return [probe.isOpen, probe.isUndecided, probe.mayMatch]
    }

    @Test(arguments: [false, true]) func whatAProbeKnows(bytewise: Bool) {
        func known(_ text: String, _ isOver: Bool = false) -> [Bool] {
            flags(text, isOver: isOver, bytewise: bytewise)
        }
        #expect(known("") == [true, false, false])
        #expect(known("", true) == [false, false, false])
        #expect(known("GE") == [true, true, false])
        #expect(known("GE", true) == [false, false, false])
        #expect(known("{") == [false, false, false])
        #expect(known("SSH-2.0-OpenSSH_9.6\r\n") == [false, false, true])
        // A request line whose end would give more detail.
        #expect(known("GET / HTTP/1.1\r\n")[2])
        #expect(known("GET / HTTP/1.1\r\n", true) == [false, false, true])
    }

    private func automatic() throws -> DecodingOptions { DecodingOptions(.automatic(try BuiltInFormats.all())) }

    @Test(arguments: known, Direction.allCases)
    func itIsSaidHoweverItIsCut(_ beginning: Beginning, _ direction: Direction) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let bytes = beginning.bytes + generator.bytes(3_000)
        for handshake in [true, false] {
            var whole = Conversation(bytes, from: direction)
            whole.handshake = handshake
            whole.serverPort = 8_088  // that of a format which is looked for
            for conversation in [whole, whole.byteByByte, whole.cut(using: &generator)] {
                let lines = try conversation.decode(automatic()).lines
                let format = try #require(lines.first { $0.event == "format" }, "seed \(seed)")
                #expect(format["format"] == beginning.format && format["by"] == "content", "\(format.text)")
                #expect(format["evidence"]?.contains("RFC ") == true)
                let runs = lines.filter { $0.event == "unframed" }
                #expect(
                    runs.allSatisfy { $0["reason"] == "not-detected" && $0["detail"]?.hasPrefix("this is ") == true })
                #expect(runs.reduce(0) { $0 + ($1[number: "length"] ?? 0) } == bytes.count)
            }
        }
    }

    @Test(arguments: [
        Beginning("", "GET / HTTP/2.0\r\n\r\n"), Beginning("", "HELLO WORLD\r\nHTTP/1.1\r\n"),
        Beginning("", "GET /a b HTTP/1.1\r\n"),
        Beginning("", "get / HTTP/1.1\r\n"), Beginning("", "HTTP/1.1 2OO\r\n"),
        Beginning("", "PRI * HTTP/2.0\r\n\r\nXX"),
        Beginning("", "SSH-1.5-old\n"), Beginning("", "GET /" + String(repeating: "a", count: 9_000)),
        Beginning("", Array(hello(1).prefix(10))), Beginning("", hello(3)), Beginning("", hello(1, record: 9)),
        Beginning("", [22, 3, 1, 0, 84, 1, 0, 0, 5, 3, 3, 0]),
    ])
    func whatIsNotQuiteThatIsNot(_ beginning: Beginning) throws {
        let lines = try Conversation(beginning.bytes).decode(automatic()).lines
        let formats = lines.filter { $0.event == "format" }.compactMap { $0["format"] }
        #expect(Set(formats).isDisjoint(with: Signature.all.map(\.name)), "\(formats)")
    }

    @Test func aFormatThatIsAskedForGoesFirst() throws {
        let line = try #require(try BuiltInFormats.format(named: "line"))
        let decoded = try Conversation(Self.known[2].bytes).decode(DecodingOptions(.fixed(line)))
        #expect(decoded.summary.total.bytes.frames == 3)
    }
}

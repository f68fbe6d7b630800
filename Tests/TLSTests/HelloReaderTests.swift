import Streams
import TLS
import Testing

/// Hellos read by a proxy, from bytes cut anywhere.
struct HelloReaderTests {
    private func client(_ bytes: [UInt8], cut: Int) -> ClientHelloReader.Answer {
        var reader = ClientHelloReader()
        let first = reader.read(bytes.span.bytes.extracting(0..<cut))
        guard first == .needsMore else { return first }
        return reader.read(bytes.span.bytes.extracting(cut..<bytes.count))
    }

    /// The same handshake bytes in records of another length.
    private func respread(_ bytes: [UInt8], _ length: Int) -> [UInt8] {
        let content = Array(bytes[5..<5 + Int(bytes[3]) << 8 + Int(bytes[4])])
        return stride(from: 0, to: content.count, by: length).flatMap { at -> [UInt8] in
            let part = content[at..<min(at + length, content.count)]
            return [22, 3, 1, UInt8(part.count >> 8), UInt8(part.count & 255)] + part
        }
    }

    @Test(arguments: ["tls13-TLS_AES_128_GCM_SHA256", "tls12-AES128-SHA256", "gnutls-TLS1.2-cbc-noetm"])
    func `a ClientHello cut anywhere`(name: String) throws {
        let stream = try Recording(name).stream(.fromClient)
        guard case .hello(let hello) = client(stream, cut: 0) else {
            Issue.record("no hello")
            return
        }
        #expect(hello.serverName == "localhost")
        for cut in 0..<200 { #expect(client(stream, cut: cut) == .hello(hello)) }
        for length in [1, 2, 3, 5, 50] {
            let spread = respread(stream, length)
            for cut in [0, 1, 5, 6, 11, spread.count / 2] {
                #expect(client(spread, cut: cut) == .hello(hello), "\(length)")
            }
        }
        for cut in 0..<records(stream)[0].upperBound {
            var reader = ClientHelloReader()
            #expect(reader.read(stream.span.bytes.extracting(0..<cut)) == .needsMore)
        }
    }

    @Test func `what is not TLS`() {
        func answer(_ bytes: [UInt8]) -> ClientHelloReader.Answer {
            var reader = ClientHelloReader()
            return reader.read(bytes.span.bytes)
        }
        #expect(answer(Array("GET / HTTP/1.1\r\n".utf8)) == .notTLS)
        #expect(answer([]) == .needsMore)
        #expect(answer([22, 3]) == .needsMore)
        let ssl2 =
            hex("802e 01 0002 0015 0000 0010 010080020080030080040080050080060040070 0c0")
            + [UInt8](repeating: 7, count: 16)
        #expect(answer(ssl2) == .unsupported("SSL 2.0 hello"))
        #expect(
            answer(hex("16 0300 0041 010000 3d 0300") + [UInt8](repeating: 0, count: 59)) == .unsupported("SSL 3.0"))
        // A hello of 16 MiB is not waited for.
        let endless = hex("16 0301 4000 01 01ffff 0303") + [UInt8](repeating: 1, count: 16_378)
        #expect(answer(endless) == .malformed("a handshake message of 131071 bytes"))
        var truncated = hex("16 0301 0030 01 00002c 0303") + [UInt8](repeating: 9, count: 32)
        truncated += [200] + [UInt8](repeating: 0, count: 9)
        #expect(answer(truncated) == .malformed("a malformed ClientHello"))
    }

    /// RFC 8701: reserved values mean nothing.
    @Test func `GREASE is left out`() {
        var body = hex("0303") + [UInt8](repeating: 3, count: 32) + [0]
        body += hex("0004 1a1a 1301 0100")
        let extensions =
            hex("4a4a 0000") + hex("002b 0005 04 7a7a 0304") + hex("000a 0006 0004 2a2a 001d")
            + hex("0010 0008 0006 02 0a0a 02 6832") + hex("0033 0007 0005 3a3a 0001 00")
        body += [UInt8(extensions.count >> 8), UInt8(extensions.count & 255)] + extensions
        let message = [1, 0, 0, UInt8(body.count)] + body
        var reader = ClientHelloReader()
        let answer = reader.read(([22, 3, 1, 0, UInt8(message.count)] + message).span.bytes)
        guard case .hello(let hello) = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(hello.cipherSuites == [CipherSuite(rawValue: 0x1301)])
        #expect(hello.supportedVersions == [.tls13] && hello.supportedGroups == [29])
        #expect(hello.applicationProtocols == ["h2"] && hello.keyShareGroups.isEmpty)
        #expect(hello.extensionTypes == [0x2b, 0x0a, 0x10, 0x33])
    }

    @Test func `first bytes`() {
        func beginning(_ text: String) -> TLSBeginning { TLSBeginning(hex(text).span.bytes) }
        #expect(beginning("16 0301 00c8 01 0000c4 0303") == .tls)
        #expect(beginning("16 0301 00c8 01 0000c4") == .undecided)
        #expect(beginning("16 0303 00c8 0b 0000c4 0303") == .notTLS)
        #expect(beginning("15 0303 0002 02 28") == .tls)
        #expect(beginning("17 0303") == .notTLS)
        #expect(beginning("") == .undecided)
    }
}

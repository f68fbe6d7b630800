import Crypto
import CryptoExtras
import Streams
import Testing

@testable import Framing

/// Streams that are compressed or encrypted from some frame on.
@Suite struct StreamLayerTests {
    private static func yaml(_ through: String) -> String {
        """
        format: x
        frame: { type: [word, kind] }
        states:
          lines:
            header: [{ words: [word, "rest*"], ends: "\\n" }]
            framing: { rule: fields }
          packed:
            through: \(through)
            header: [{ magic: { type: u16, equals: 0xbeef } }, { kind: u8 }, { length: u16 }]
            framing: { rule: length-field, field: length }
        transitions:
          - { in: lines, when: from == server and word == "OK", to: packed }
          - { in: packed, when: kind == 9, to: lines, side: client }
        """
    }

    private func format(_ through: String, _ keys: [String: [UInt8]] = [:]) throws -> Format {
        var format = try FormatLoader.load(Self.yaml(through), file: "x.yaml")
        try format.use(BodyResources(keys: keys))
        return format
    }

    private func packed(_ kind: UInt8, _ count: Int) -> [UInt8] {
        [0xbe, 0xef, kind, UInt8(count >> 8), UInt8(count & 255)]
            + (0..<count).map { UInt8(truncatingIfNeeded: $0 / 3) }
    }

    /// Chunks of a conversation that compresses after "OK", which has its first compressed frame after it in the same chunk.
    private func conversation() -> [(Direction, [UInt8])] {
        let (client, server) = (Compressor(15), Compressor(15))
        return [
            (.fromClient, Array("HELLO there\nDEFLATE\n".utf8)),
            (.fromServer, Array("OK go\n".utf8) + server.compress(packed(1, 40) + packed(2, 3_000))),
            (.fromClient, client.compress(packed(3, 0))),
            (.fromClient, client.compress(packed(4, 70_000 % 65_536)) + client.compress(packed(5, 1))),
            (.fromServer, server.compress(packed(6, 65_000))),
        ]
    }

    private let clients = ["0+12 HELLO", "12+8 DEFLATE", "20+5 3", "25+4469 4", "4494+6 5"]
    private let servers = ["0+6 OK", "6+45 1", "51+3005 2", "3056+65005 6"]

    @Test func framesFollowDecompressed() throws {
        let seen = LayeredConversation(try format("zlib"))
        for (direction, bytes) in conversation() { seen.take(bytes, direction) }
        seen.finish()
        #expect(seen.frames.fromClient == clients)
        #expect(seen.frames.fromServer == servers)
        #expect(seen.reasons.isEmpty)
    }

    /// Offsets count decompressed bytes, however the compressed ones are cut.
    @Test(arguments: [1, 2, 7, 1_448])
    func cuttingDoesNotMatter(size: Int) throws {
        let seen = LayeredConversation(try format("zlib"))
        for (direction, bytes) in conversation() {
            for start in stride(from: 0, to: bytes.count, by: size) {
                seen.take(Array(bytes[start..<min(start + size, bytes.count)]), direction)
            }
        }
        seen.finish()
        #expect(seen.frames.fromClient == clients)
        #expect(seen.frames.fromServer == servers)
    }

    @Test(arguments: [("gzip", 31), ("deflate", -15), ("[zlib, { xor: { key: 0x5a } }]", 15)] as [(String, Int32)])
    func otherEncodings(through: String, bits: Int32) throws {
        let mask = through.contains("xor")
        let seen = LayeredConversation(try format(through))
        let server = Compressor(bits)
        let content = packed(1, 40) + packed(2, 7)
        let inner = mask ? content.map { $0 ^ 0x5a } : content
        seen.take(Array("OK go\n".utf8) + server.compress(inner), .fromServer)
        seen.finish()
        #expect(seen.frames.fromServer == ["0+6 OK", "6+45 1", "51+12 2"])
    }

    /// zstd, cut anywhere; its frames may end after each message, or not.
    @Test(arguments: [1, 9, 4_096], [true, false])
    func zstd(size: Int, ends: Bool) throws {
        let seen = LayeredConversation(try format("zstd"))
        let server = ZstdCompressor()
        let bytes =
            Array("OK go\n".utf8) + server.compress(packed(1, 40), ends: ends)
            + server.compress(packed(2, 60_000) + packed(3, 7), ends: ends) + server.compress(packed(4, 0), ends: ends)
        for start in stride(from: 0, to: bytes.count, by: size) {
            seen.take(Array(bytes[start..<min(start + size, bytes.count)]), .fromServer)
        }
        seen.finish()
        #expect(seen.frames.fromServer == ["0+6 OK", "6+45 1", "51+60005 2", "60056+12 3", "60068+5 4"])
        #expect(seen.reasons.isEmpty)
    }

    /// A compressed stream that ends gives way to what the state then says: here lines.
    @Test func anEndedStreamIsPlainAgain() throws {
        let seen = LayeredConversation(try format("zlib"))
        seen.take(Array("OK\n".utf8), .fromServer)
        let client = Compressor(15)
        let bytes = client.compress(packed(1, 4)) + client.compress(packed(9, 0), ends: true) + Array("BYE now\n".utf8)
        for byte in bytes { seen.take([byte], .fromClient) }
        seen.finish()
        #expect(seen.frames.fromClient == ["0+9 1", "9+5 9", "14+8 BYE"])
        #expect(seen.reasons.isEmpty)
    }

    /// … or a second one, if the state is still the same.
    @Test func anotherStreamMayFollow() throws {
        let seen = LayeredConversation(try format("zlib"))
        let first = Compressor(15).compress(packed(1, 4), ends: true)
        seen.take(Array("OK\n".utf8) + first + Compressor(15).compress(packed(2, 4), ends: true) + first, .fromServer)
        seen.finish()
        #expect(seen.frames.fromServer == ["0+3 OK", "3+9 1", "12+9 2", "21+9 1"])
    }

    /// Very many of them do not exhaust the stack.
    @Test func manyStreamsInOneChunk() throws {
        let seen = LayeredConversation(try format("zlib"))
        let one = Compressor(15).compress(packed(1, 0), ends: true)
        seen.take(Array("OK\n".utf8) + (0..<4_000).flatMap { _ in one }, .fromServer)
        #expect(seen.frames.fromServer.count == 4_001)
    }

    // MARK: What cannot be decoded

    @Test func afterAGapNothingIsDecompressed() throws {
        let seen = LayeredConversation(try format("zlib"))
        let server = Compressor(15)
        seen.take(Array("OK\n".utf8) + server.compress(packed(1, 4)), .fromServer)
        seen.gap(20, .fromServer)
        let rest = server.compress(packed(2, 400)) + Array("OK\nOK\n".utf8)
        seen.take(rest, .fromServer)
        seen.finish()
        #expect(seen.frames.fromServer == ["0+3 OK", "3+9 1"])
        #expect(seen.unframed.fromServer == rest)
        #expect(seen.reasons.contains { $0.contains("after a gap of 20 bytes") }, "\(seen.reasons)")
        let counts = seen.counts(.fromServer)
        #expect(counts.bytes == 12 + 20 + rest.count && counts.missing == 20)
    }

    @Test func invalidDataIsUnframed() throws {
        let seen = LayeredConversation(try format("zlib"))
        seen.take(Array("OK\nno zlib data\nOK again\n".utf8), .fromServer)
        seen.finish()
        #expect(seen.frames.fromServer == ["0+3 OK"])
        // The first two bytes were taken for a header.
        #expect(seen.unframed.fromServer == Array(" zlib data\nOK again\n".utf8))
        #expect(seen.reasons.contains { $0.hasPrefix("not-detected: zlib: incorrect header check") }, "\(seen.reasons)")
    }

    /// Who does not remove the encoding, finds no frames in it.
    @Test func withoutLayersTheStreamIsUnframed() throws {
        let seen = LayeredConversation(try format("zlib"), decodes: false)
        let compressed = Compressor(15).compress(packed(1, 4))
        seen.take(Array("OK\n".utf8) + compressed, .fromServer)
        seen.finish()
        #expect(seen.frames.fromServer == ["0+3 OK"] && seen.unframed.fromServer == compressed)
        #expect(seen.reasons == ["not-detected: zlib, which is not decoded here"])
    }

    /// Wherever the data is damaged, and however it is cut: the same frames, and the same bytes are unframed.
    @Test(arguments: 0..<16 as Range<UInt64>)
    func damageIsTheSameHoweverItIsCut(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let format = try format(seed % 2 == 0 ? "zlib" : "[{ xor: { key: 0x1234 } }, deflate]")
        let server = Compressor(seed % 2 == 0 ? 15 : -15)
        var bytes = server.compress(packed(1, 40)) + server.compress(packed(2, 2_000) + packed(3, 7))
        if seed % 2 != 0 { bytes = bytes.enumerated().map { $1 ^ [0x12, 0x34][$0 % 2] } }
        for _ in 0..<3 {
            bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
        }
        func seen(_ size: () -> Int) -> LayeredConversation {
            let seen = LayeredConversation(format)
            var rest = (Array("OK\n".utf8) + bytes + Array("OK again\n".utf8))[...]
            while !rest.isEmpty {
                let piece = rest.prefix(size())
                seen.take(Array(piece), .fromServer)
                rest = rest.dropFirst(piece.count)
            }
            seen.finish()
            return seen
        }
        let whole = seen { .max }
        let cut = seen { Int.random(in: 1...20, using: &random) }
        let bytewise = seen { 1 }
        for other in [cut, bytewise] {
            #expect(other.frames.fromServer == whole.frames.fromServer, "seed \(seed)")
            let isSame = other.unframed.fromServer == whole.unframed.fromServer
            #expect(isSame, "seed \(seed)")
            #expect(other.reasons == whole.reasons, "seed \(seed)")
        }
    }

    /// A thousandfold expansion is passed on in pieces.
    @Test func bombsAreBounded() throws {
        let server = Compressor(15)
        let bomb = (0..<16).flatMap { _ in server.compress([UInt8](repeating: 0, count: 1 << 20)) }
        let layer = try InflateLayer("zlib", .zlib)
        var (total, largest) = (0, 0)
        let used = try layer.take(bomb.span.bytes) { bytes in
            total += bytes.byteCount
            largest = max(largest, bytes.byteCount)
        }
        #expect(used == bomb.count && total == 16 << 20 && largest <= 256 << 10)
    }

    // MARK: Ciphers

    private let key = Array("0123456789abcdef".utf8)

    private func encrypted(_ bytes: [UInt8], _ mode: String) throws -> [UInt8] {
        let key = SymmetricKey(data: key)
        if mode == "ctr" {
            return Array(
                try AES._CTR.encrypt(
                    bytes, using: key, nonce: AES._CTR.Nonce(nonceBytes: [UInt8](repeating: 255, count: 16))))
        }
        return Array(
            try AES._CFB.encrypt(bytes, using: key, iv: AES._CFB.IV(ivBytes: [UInt8](repeating: 255, count: 16))))
    }

    /// What swift-crypto encrypts as a whole is decrypted in pieces of any size. The counter overflows at once.
    @Test(arguments: ["ctr", "cfb"], [1, 5, 16, 33, 4_096])
    func ciphersDecryptInPieces(mode: String, size: Int) throws {
        let format = try format(
            "{ aes: { mode: \(mode), keyName: k, iv: \(String(repeating: "f", count: 32)) } }", ["k": key])
        let bytes = try encrypted(packed(1, 300) + packed(2, 3), mode)
        let seen = LayeredConversation(format)
        seen.take(Array("OK\n".utf8), .fromServer)
        for start in stride(from: 0, to: bytes.count, by: size) {
            seen.take(Array(bytes[start..<min(start + size, bytes.count)]), .fromServer)
        }
        seen.finish()
        #expect(seen.frames.fromServer == ["0+3 OK", "3+305 1", "308+8 2"])
    }

    /// CFB with segments of 8 bits: NIST SP 800-38A, F.3.7.
    @Test func cfb8OfTheSpecification() throws {
        func bytes(_ hex: String) -> [UInt8] { FieldValue.text(hex).rawBytes ?? [] }
        var format = try FormatLoader.load(
            Self.yaml("{ aes: { mode: cfb8, keyName: k, iv: 000102030405060708090a0b0c0d0e0f } }"), file: "x.yaml")
        try format.use(BodyResources(keys: ["k": bytes("2b7e151628aed2a6abf7158809cf4f3c")]))
        let encoding = try #require(format.states?.encodings(1, .fromClient).first)
        let layer = try encoding.layer()
        var out: [UInt8] = []
        for byte in bytes("3b79424c9c0dd436bace9e0ed4586a4f32b9") {
            _ = try layer.take([byte].span.bytes) { out += $0.copied() }
        }
        #expect(out == bytes("6bc1bee22e409f96e93d7e117393172aae2d"))
    }

    /// In counter mode a gap loses its own bytes only, wherever it is.
    @Test(arguments: [0, 1, 13, 16, 17, 31, 32, 200], [1, 15, 16, 17, 48, 100])
    func counterModeGoesOnAfterAGap(start: Int, count: Int) throws {
        let plain = (0..<400).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let bytes = try encrypted(plain, "ctr")
        var format = try FormatLoader.load(
            Self.yaml("{ aes: { iv: \(String(repeating: "f", count: 32)) } }"), file: "x.yaml")
        try format.use(BodyResources(keys: ["x": key]))
        let layer = try #require(format.states?.encodings(1, .fromClient).first).layer()
        var out: [UInt8] = []
        if start > 0 { _ = try layer.take(bytes[..<start].copied().span.bytes) { out += $0.copied() } }
        #expect(layer.skip(count) == count)
        _ = try layer.take(bytes[(start + count)...].copied().span.bytes) { out += $0.copied() }
        #expect(out == Array(plain[..<start] + plain[(start + count)...]))
    }

    @Test func aMissingKeyIsNamed() throws {
        let seen = LayeredConversation(try format("{ aes: { keyName: session } }"))
        seen.take(Array("OK\n".utf8) + packed(1, 4), .fromServer)
        seen.finish()
        #expect(seen.frames.fromServer == ["0+3 OK"])
        #expect(seen.reasons == ["not-detected: aes: the key session is not known; give it with --key"])
        #expect(try format("{ aes: { keyName: session } }").bodyKeyNames == ["session", "session.iv"])
    }

    @Test func faultsNameTheirPlace() {
        for (through, text) in [
            ("zlob", "there is no stream encoding zlob; did you mean zlib?"),
            ("{ aes: { mode: ecb } }", "mode is ecb"),
            ("{ aes: { iv: 0102 } }", "iv is 0102; expected given, key, zero or 32 hexadecimal digits"),
            ("{ xor: { key: 5 } }", "key is 5; expected 0x and pairs of hex digits"),
            ("{ zlib: { level: 3 } }", "unknown key level"),
        ] {
            let error = #expect(throws: FormatFileError.self) {
                try FormatLoader.load(Self.yaml(through), file: "x.yaml")
            }
            #expect(error.map { "\($0)".contains(text) } ?? false, "\(through): \(String(describing: error))")
        }
    }
}

extension ArraySlice<UInt8> {
    fileprivate func copied() -> [UInt8] { Array(self) }
}

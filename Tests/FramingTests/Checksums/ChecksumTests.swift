import Framing
import Streams
import Testing

@Suite struct ChecksumTests {
    private func value(_ name: String, _ bytes: [UInt8]) -> UInt64? {
        Checksum.named(name)?.value(of: bytes.span.bytes)
    }

    @Test(arguments: ChecksumTests.checks)
    func theCheckValueIsTheCatalogues(name: String, check: UInt64) throws {
        #expect(value(name, Array("123456789".utf8)) == check)
        #expect(try #require(Checksum.named(name)).name == name)
    }

    @Test func sumsAreCutToTheirWidth() {
        let bytes = [UInt8](repeating: 0xff, count: 300)
        #expect(value("sum8", bytes) == 300 * 255 % 256)
        #expect(value("sum16", bytes) == 300 * 255 % 65_536)
        #expect(value("sum32", bytes) == 300 * 255)
        #expect(value("xor8", bytes + [0x0f]) == 0x0f)
    }

    @Test func ofNothingTheChecksAreTheirConstants() {
        #expect(value("crc32", []) == 0)
        #expect(value("CRC-16/MODBUS", []) == 0xffff)
        #expect(value("sum16", []) == 0)
    }

    @Test func namesAndAliasesAreTheSameInEitherCase() {
        for name in Checksum.names {
            #expect(Checksum.named(name) != nil, "\(name)")
            #expect(Checksum.named(name.lowercased()) == Checksum.named(name.uppercased()))
        }
        #expect(Set(Checksum.names.map { $0.lowercased() }).count == Checksum.names.count)
        #expect(Checksum.named("CCITT-FALSE") == Checksum.named("crc-16/ibm-3740"))
        #expect(Checksum.named("crc32c") == Checksum.named("CRC-32/ISCSI"))
        #expect(Checksum.named("crc-16/modbus")?.byteCount == 2)
        #expect(Checksum.named("xor8")?.byteCount == 1)
        #expect(Checksum.named("crc-64") == nil)
    }

    /// Values that zlib, OpenSSL and RFC 1071's own code compute.
    @Test func longAndEmptyOnes() {
        let bytes = [UInt8](repeating: 0xff, count: 100_001)
        #expect(value("adler-32", bytes) == 0x45c5312b && value("adler-32", []) == 1)
        #expect(value("internet", bytes) == 0xff && value("internet", []) == 0xffff)
        #expect(value("internet", [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]) == 0x220d, "RFC 1071, section 3")
        #expect(value("sha-256d", []) == 0x5df6e0e2 && value("sha-256d", Array("hello".utf8)) == 0x9595_c9df)
        #expect(value("fletcher-16", Array("abcde".utf8)) == 0xc8f0)
    }

    /// The check values of the CRC catalogue: of the nine bytes "123456789".
    static let checks: [(String, UInt64)] = [
        ("sum8", 0xdd), ("sum16", 0x1dd), ("sum32", 0x1dd), ("xor8", 0x31), ("internet", 0xf62a),
        ("fletcher-16", 0x1ede), ("adler-32", 0x091e_01de), ("sha-256d", 0x292b_0d00),
        ("CRC-8/AUTOSAR", 0xdf),
        ("CRC-8/BLUETOOTH", 0x26),
        ("CRC-8/CDMA2000", 0xda),
        ("CRC-8/DARC", 0x15),
        ("CRC-8/DVB-S2", 0xbc),
        ("CRC-8/GSM-A", 0x37),
        ("CRC-8/GSM-B", 0x94),
        ("CRC-8/HITAG", 0xb4),
        ("CRC-8/I-432-1", 0xa1),
        ("CRC-8/I-CODE", 0x7e),
        ("CRC-8/LTE", 0xea),
        ("CRC-8/MAXIM-DOW", 0xa1),
        ("CRC-8/MIFARE-MAD", 0x99),
        ("CRC-8/NRSC-5", 0xf7),
        ("CRC-8/OPENSAFETY", 0x3e),
        ("CRC-8/ROHC", 0xd0),
        ("CRC-8/SAE-J1850", 0x4b),
        ("CRC-8/SMBUS", 0xf4),
        ("CRC-8/TECH-3250", 0x97),
        ("CRC-8/WCDMA", 0x25),
        ("CRC-16/ARC", 0xbb3d),
        ("CRC-16/CDMA2000", 0x4c06),
        ("CRC-16/CMS", 0xaee7),
        ("CRC-16/DDS-110", 0x9ecf),
        ("CRC-16/DECT-R", 0x007e),
        ("CRC-16/DECT-X", 0x007f),
        ("CRC-16/DNP", 0xea82),
        ("CRC-16/EN-13757", 0xc2b7),
        ("CRC-16/GENIBUS", 0xd64e),
        ("CRC-16/GSM", 0xce3c),
        ("CRC-16/IBM-3740", 0x29b1),
        ("CRC-16/IBM-SDLC", 0x906e),
        ("CRC-16/ISO-IEC-14443-3-A", 0xbf05),
        ("CRC-16/KERMIT", 0x2189),
        ("CRC-16/LJ1200", 0xbdf4),
        ("CRC-16/M17", 0x772b),
        ("CRC-16/MAXIM-DOW", 0x44c2),
        ("CRC-16/MCRF4XX", 0x6f91),
        ("CRC-16/MODBUS", 0x4b37),
        ("CRC-16/NRSC-5", 0xa066),
        ("CRC-16/OPENSAFETY-A", 0x5d38),
        ("CRC-16/OPENSAFETY-B", 0x20fe),
        ("CRC-16/PROFIBUS", 0xa819),
        ("CRC-16/RIELLO", 0x63d0),
        ("CRC-16/SPI-FUJITSU", 0xe5cc),
        ("CRC-16/T10-DIF", 0xd0db),
        ("CRC-16/TELEDISK", 0x0fb3),
        ("CRC-16/TMS37157", 0x26b1),
        ("CRC-16/UMTS", 0xfee8),
        ("CRC-16/USB", 0xb4c8),
        ("CRC-16/XMODEM", 0x31c3),
        ("CRC-32/AIXM", 0x3010bf7f),
        ("CRC-32/AUTOSAR", 0x1697d06a),
        ("CRC-32/BASE91-D", 0x87315576),
        ("CRC-32/BZIP2", 0xfc891918),
        ("CRC-32/CD-ROM-EDC", 0x6ec2edc4),
        ("CRC-32/CKSUM", 0x765e7680),
        ("CRC-32/ISCSI", 0xe3069283),
        ("CRC-32/ISO-HDLC", 0xcbf43926),
        ("CRC-32/JAMCRC", 0x340bc6d9),
        ("CRC-32/MEF", 0xd2c22f51),
        ("CRC-32/MPEG-2", 0x0376e6e7),
        ("CRC-32/XFER", 0xbd0be338),
    ]
}

/// A checksum inside its covered range counts as zeros there.
@Suite struct CoveredChecksumTests {
    @Test func theFieldCountsAsZeros() throws {
        let yaml = """
            format: x
            header: [{ n: u8 }, { check: { type: u8, checksum: sum8, over: [start, end] } }, { last: u8 }]
            framing: { rule: length-field, field: n }
            """
        let format = try FormatLoader.load(yaml, file: "x.yaml").directions.fromClient
        let bytes = try format.encode([Field("last", .integer(7))], body: [1, 2])
        #expect(bytes == [2, 2 + 7 + 1 + 2, 7, 1, 2])
        let found = format.layouts[0].checksums(of: bytes.span.bytes, FrameShape(head: 3, body: 2))
        #expect(found.map(\.found) == ["c"] && found.map(\.expected) == ["c"])
    }

    /// The byte order of a checksum may depend on other fields.
    @Test(arguments: [(0, [0, 0x40, 0xbf]), (1, [1, 0x7e, 0x80])] as [(Int64, [UInt8])])
    func theByteOrderMayDependOnAFlag(little: Int64, expected: [UInt8]) throws {
        let yaml = """
            format: x
            header:
              - { flags: { type: u8, bits: { 0: little } } }
              - { sum: { type: u16, byteOrder: { little: little == 1 }, checksum: CRC-16/MODBUS, over: [start, field] } }
            framing: { rule: fields }
            """
        let format = try FormatLoader.load(yaml, file: "x.yaml").directions.fromClient
        let bytes = try format.encode([Field("flags", .integer(little))], body: [])
        #expect(bytes == expected)
        let found = format.layouts[0].checksums(of: bytes.span.bytes, FrameShape(head: 3, body: 0))
        #expect(found.count == 1 && found.allSatisfy { $0.found == $0.expected })
    }
}

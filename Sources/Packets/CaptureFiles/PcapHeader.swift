/// The header of a pcap file, which determines how its records are read.
///
///      0       4       8       12      16      20      24
///     +-------+---+---+-------+-------+-------+-------+
///     | magic |maj|min| zone  |sigfigs|snaplen|linktype|
///     +-------+---+---+-------+-------+-------+-------+
///
/// Source: draft-ietf-opsawg-pcap, section 4; variants beyond it as in libpcap and Wireshark.
struct PcapHeader: Hashable, Sendable {
    /// The size of the header.
    static let byteCount = 24

    /// The order of a record's two lengths.
    enum LengthOrder: Hashable, Sendable {
        /// Captured, then original.
        case capturedFirst
        /// Original, then captured: versions before 2.3.
        case originalFirst
        /// The lesser is the captured one: version 2.3 was written both ways.
        case lesserFirst
    }

    /// Whether the file's numbers are big-endian.
    var isBigEndian: Bool
    /// Nanoseconds per unit of a record's fraction of a second: 1 or 1000.
    var nanosecondsPerUnit: Int64
    /// The size of a record's header: 16, or 24 in the "modified" format of Kuznetzov's libpcap.
    var recordHeaderLength: Int
    /// The order of a record's lengths.
    var lengthOrder: LengthOrder
    /// At most how many bytes of a packet were to be captured.
    var snapLength: Int
    /// The greatest length a record may have; a longer one means the file is damaged.
    var maximumLength: Int
    /// What the packets begin with.
    var linkType: LinkType

    /// Whether the four bytes, read as a number in network byte order, begin a pcap file.
    static func isMagic(_ magic: UInt32) -> Bool {
        variant(magic) != nil || variant(magic.byteSwapped) != nil
    }

    /// Whether another file begins where a record should, as `cat` puts files together. As a record it would have no bytes.
    ///
    /// - Parameter record: at least 16 bytes.
    static func begins(_ record: RawSpan) -> Bool {
        let magic = record.u32(0)
        let big = variant(magic) != nil
        guard big || variant(magic.byteSwapped) != nil else { return false }
        return PcapngOption.number(record.u16(4), big) == 2 && PcapngOption.number(record.u16(6), big) == 4
    }

    /// Reads the 24 bytes at the start of a file.
    init(_ bytes: RawSpan) throws(CaptureError) {
        let magic = bytes.u32(0)
        let big = PcapHeader.variant(magic)
        guard let variant = big ?? PcapHeader.variant(magic.byteSwapped) else {
            throw CaptureError(
                kind: .notACapture, offset: 0, expected: "a pcap or pcapng magic number",
                found: "0x" + String(magic, radix: 16))
        }
        isBigEndian = big != nil
        (nanosecondsPerUnit, recordHeaderLength) = variant
        let major = PcapngOption.number(bytes.u16(4), isBigEndian)
        let minor = PcapngOption.number(bytes.u16(6), isBigEndian)
        guard major <= 2 || major == 543 else {
            throw CaptureError(
                kind: .unknownVariant, offset: 4, expected: "version 2.4", found: "version \(major).\(minor)")
        }
        // As libpcap does: lengths were swapped until 2.3, and in the 543.0 that a DG/UX tcpdump wrote.
        switch (major, minor) {
        case (0...1, _), (2, 0...2), (543, _): lengthOrder = .originalFirst
        case (2, 3): lengthOrder = .lesserFirst
        default: lengthOrder = .capturedFirst
        }
        snapLength = Int(PcapngOption.number(bytes.u32(16), isBigEndian))
        maximumLength = CaptureParser.maximumPacketLength(snapLength: snapLength)
        // The upper half may hold the length of a frame check sequence, which IP's own length trims.
        linkType = LinkType(rawValue: UInt16(truncatingIfNeeded: PcapngOption.number(bytes.u32(20), isBigEndian)))
    }

    /// The file's only interface, as pcapng would describe it.
    var interface: CaptureInterface {
        let digits: UInt8 = nanosecondsPerUnit == 1 ? 9 : 6
        var interface = CaptureInterface(index: 0, linkType: linkType)
        interface.snapLength = snapLength
        interface.resolution = TimeResolution(option: digits, offset: 0)
        interface.options = [UInt8(PcapngOption.timeResolution), 0, 1, 0, digits, 0, 0, 0]
        return interface
    }

    /// Nanoseconds per unit and the length of a record header, by magic number.
    private static func variant(_ magic: UInt32) -> (Int64, Int)? {
        switch magic {
        case 0xa1b2_c3d4: (1000, 16)
        case 0xa1b2_3c4d: (1, 16)
        case 0xa1b2_cd34: (1000, 24)  // Alexey Kuznetzov's: interface index, protocol, packet type after the lengths
        default: nil
        }
    }
}

import Streams

/// The state of a pcapng section: its byte order and its interfaces.
///
/// Source: draft-ietf-opsawg-pcapng, sections 4.1 and 4.2.
struct PcapngSection: Sendable {
    /// The type of the block that starts a section: the same in both byte orders.
    static let blockType: UInt32 = 0x0a0d_0d0a
    /// The most interfaces that a section may have: as many as an obsolete packet block can name. Each takes memory.
    static let mostInterfaces = 65_536

    /// An interface of the section.
    struct Interface: Sendable {
        var linkType: LinkType
        /// 0 for no limit.
        var snapLength: Int
        var resolution: TimeResolution
        /// What its statistics counted so far.
        var drops = CaptureDrops()
        /// The leg of proxied connections whose packets it has.
        var leg: Leg?
    }

    /// Whether the section's numbers are big-endian.
    var isBigEndian = true
    /// Its interfaces, by their index.
    var interfaces: [Interface] = []

    /// Starts a section, given the byte-order magic at offset 8 of its block.
    init?(byteOrderMagic: UInt32) {
        switch byteOrderMagic {
        case 0x1a2b_3c4d: isBigEndian = true
        case 0x4d3c_2b1a: isBigEndian = false
        default: return nil
        }
    }

    /// The time before any section.
    init() {}

    /// Takes an interface description: link type (2), reserved (2), snapshot length (4), options.
    mutating func addInterface(_ body: RawSpan) -> CaptureInterface {
        var name: String?
        var resolution: UInt8 = 6
        var offset: Int64 = 0
        let isBigEndian = isBigEndian
        PcapngOption.each(in: body.extracting(8..<body.byteCount), bigEndian: isBigEndian) { code, value in
            if code == PcapngOption.name { name = value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } }
            if code == PcapngOption.timeResolution, value.byteCount == 1 { resolution = value[byte: 0] }
            if code == PcapngOption.timeOffset, value.byteCount == 8 {
                offset = Int64(bitPattern: PcapngOption.number(value.u64(0), isBigEndian))
            }
        }
        let linkType = LinkType(rawValue: PcapngOption.number(body.u16(0), isBigEndian))
        interfaces.append(
            Interface(
                linkType: linkType,
                snapLength: Int(PcapngOption.number(body.u32(4), isBigEndian)),
                resolution: resolution == 6 && offset == 0
                    ? TimeResolution() : TimeResolution(option: resolution, offset: offset),
                leg: name.flatMap { Leg(interfaceName: $0) }))
        // The name is not kept: it would be retained and released with each packet.
        let index = interfaces.count - 1
        var described = CaptureInterface(index: index, name: name, linkType: linkType)
        described.snapLength = interfaces[index].snapLength
        described.resolution = interfaces[index].resolution
        PcapngOption.appendLittleEndian(
            body.extracting(8..<body.byteCount), bigEndian: isBigEndian, of: .interface, to: &described.options)
        return described
    }
}

import Streams

/// Blocks of a pcapng file.
///
///      0       4       8              length-4  length
///     +-------+-------+----- … ------+---------+
///     | type  |length |     body     | length  |
///     +-------+-------+----- … ------+---------+
///
/// Source: draft-ietf-opsawg-pcapng, sections 3.1 and 4.
extension CaptureParser {
    /// The types of the blocks that are read; any other is skipped by its length.
    private enum BlockType {
        static let interfaceDescription: UInt32 = 1
        static let obsoletePacket: UInt32 = 2
        static let simplePacket: UInt32 = 3
        static let nameResolution: UInt32 = 4
        static let interfaceStatistics: UInt32 = 5
        static let enhancedPacket: UInt32 = 6
        static let decryptionSecrets: UInt32 = 10
    }

    /// A block that must lie whole in a window and is longer than this is treated as damage.
    private static var maximumBlockLength: Int { (128 << 20) + (1 << 20) }

    mutating func parsePcapng<Receiver: PacketReceiver & ~Copyable>(
        _ window: RawSpan, _ section: inout PcapngSection, to receiver: inout Receiver
    ) throws(CaptureError) -> Progress {
        var at = 0
        let passesOver = receiver.passesOver
        while true {
            if passesOver { passOver(window, from: &at, section, &receiver) }
            guard window.byteCount - at >= 12 else { break }
            let offset = position + at
            if window.u32(at) == PcapngSection.blockType {
                section = try startSection(window.extracting(at..<at + 12), offset)
            }
            let big = section.isBigEndian
            let type = PcapngOption.number(window.u32(at), big)
            let length = Int(PcapngOption.number(window.u32(at + 4), big))
            guard length >= 12, length & 3 == 0 else {
                throw CaptureError(
                    kind: .badLength, offset: offset + 4, expected: "a block length of at least 12, a multiple of 4",
                    found: "\(length)")
            }
            guard
                isRead(type)
                    || type == BlockType.nameResolution && Receiver.readsNames
                        && length <= CaptureParser.maximumBlockLength
            else {
                // Unknown blocks may be of any length: they are not buffered.
                let available = min(length, window.byteCount - at)
                toSkip = length - available
                at += available
                if toSkip > 0 { return Progress(consumed: at, wanted: 1, stopped: false) }
                continue
            }
            guard length <= CaptureParser.maximumBlockLength else {
                throw CaptureError(
                    kind: .badLength, offset: offset + 4,
                    expected: "a block length of at most \(CaptureParser.maximumBlockLength)", found: "\(length)")
            }
            guard window.byteCount - at >= length else {
                return Progress(consumed: at, wanted: length, stopped: false)
            }
            let trailer = Int(PcapngOption.number(window.u32(at + length - 4), big))
            guard trailer == length || type == BlockType.nameResolution else {
                throw CaptureError(
                    kind: .badLength, offset: offset + length - 4,
                    expected: "the block length \(length) again", found: "\(trailer)")
            }
            let body = window.extracting(unchecked: at + 8..<at + length - 4)
            let taken = try parseBlock(type, body, offset + 8, &section, to: &receiver)
            if let kind = kind(of: type) {
                receiver.passed(
                    CaptureBlock(kind: kind, place: offset..<offset + length, isBigEndian: big), body: body)
            }
            guard taken else { return Progress(consumed: at, wanted: length, stopped: true) }
            at += length
        }
        return Progress(consumed: at, wanted: at < window.byteCount ? 12 : 0, stopped: false)
    }

    /// Passes over packets: enhanced packet blocks of the interface that the first has.
    private mutating func passOver<Receiver: PacketReceiver & ~Copyable>(
        _ window: RawSpan, from at: inout Int, _ section: PcapngSection, _ receiver: inout Receiver
    ) {
        guard !section.isBigEndian, window.byteCount - at >= 32 else { return }
        let index = Int(window.u32(at + 8).byteSwapped)
        guard index < section.interfaces.count, section.interfaces[index].linkType == .ethernet else { return }
        let resolution = section.interfaces[index].resolution
        packetCount += receiver.passOver(window, from: &at, position: position, runs: &foreignRuns) { at in
            // Everything but the packet and its options.
            guard window.byteCount &- at >= 32,
                window.u32(unchecked: at).byteSwapped == BlockType.enhancedPacket,
                Int(window.u32(unchecked: at &+ 8).byteSwapped) == index
            else { return nil }
            let length = Int(window.u32(unchecked: at &+ 4).byteSwapped)
            guard length >= 32, length & 3 == 0,
                length <= min(CaptureParser.maximumBlockLength, window.byteCount &- at),
                Int(window.u32(unchecked: at &+ length &- 4).byteSwapped) == length
            else { return nil }
            let captured = Int(window.u32(unchecked: at &+ 20).byteSwapped)
            guard captured <= length &- 32 else { return nil }
            return PassedPackets.Record(
                start: at &+ 28, captured: captured, time: resolution.instant(Self.time(window, at &+ 12, false)),
                end: at &+ length)
        }
    }

    /// Section header: byte-order magic (4), version (2 + 2), section length (8), options.
    private func startSection(_ head: RawSpan, _ offset: Int) throws(CaptureError) -> PcapngSection {
        guard let section = PcapngSection(byteOrderMagic: head.u32(8)) else {
            throw CaptureError(
                kind: .unknownVariant, offset: offset + 8, expected: "the byte-order magic 0x1a2b3c4d",
                found: "0x" + String(head.u32(8), radix: 16))
        }
        return section
    }

    private func isRead(_ type: UInt32) -> Bool {
        switch type {
        case BlockType.interfaceDescription, BlockType.obsoletePacket, BlockType.simplePacket,
            BlockType.interfaceStatistics, BlockType.enhancedPacket, BlockType.decryptionSecrets,
            PcapngSection.blockType:
            true
        default: false
        }
    }

    /// What a block is that has no packet.
    @inline(__always)
    private func kind(of type: UInt32) -> CaptureBlock.Kind? {
        switch type {
        case BlockType.enhancedPacket, BlockType.obsoletePacket, BlockType.simplePacket: nil
        case BlockType.interfaceDescription: .interface
        case BlockType.interfaceStatistics: .statistics
        case BlockType.decryptionSecrets: .secrets
        case BlockType.nameResolution: .names
        default: .section
        }
    }

    /// - Returns: false if the receiver asked to stop.
    @inline(__always)
    private mutating func parseBlock<Receiver: PacketReceiver & ~Copyable>(
        _ type: UInt32, _ body: RawSpan, _ offset: Int, _ section: inout PcapngSection, to receiver: inout Receiver
    ) throws(CaptureError) -> Bool {
        switch type {
        case BlockType.enhancedPacket:
            try require(body, 20, offset)
            let big = section.isBigEndian
            return try deliver(
                PacketFields(
                    interface: Int(PcapngOption.number(body.u32(0), big)), units: Self.time(body, 4, big),
                    captured: Int(PcapngOption.number(body.u32(12), big)),
                    original: Int(PcapngOption.number(body.u32(16), big)), start: 20),
                body, offset, section, to: &receiver)
        case BlockType.obsoletePacket:
            try require(body, 20, offset)
            let big = section.isBigEndian
            return try deliver(
                PacketFields(
                    interface: Int(PcapngOption.number(body.u16(0), big)), units: Self.time(body, 4, big),
                    captured: Int(PcapngOption.number(body.u32(12), big)),
                    original: Int(PcapngOption.number(body.u32(16), big)), start: 20),
                body, offset, section, to: &receiver)
        case BlockType.simplePacket:
            try require(body, 4, offset)
            let original = Int(PcapngOption.number(body.u32(0), section.isBigEndian))
            let snapLength = section.interfaces.first?.snapLength ?? 0
            let captured = min(original, body.byteCount - 4, snapLength == 0 ? .max : snapLength)
            return try deliver(
                PacketFields(interface: 0, units: nil, captured: captured, original: original, start: 4),
                body, offset, section, to: &receiver)
        case BlockType.interfaceDescription:
            try require(body, 8, offset)
            guard section.interfaces.count < PcapngSection.mostInterfaces else {
                throw CaptureError(
                    kind: .tooManyInterfaces, offset: offset - 8,
                    expected: "at most \(PcapngSection.mostInterfaces) interfaces in a section", found: "another one")
            }
            receiver.described(section.addInterface(body))
        case BlockType.decryptionSecrets:
            // Type (4), length (4), secrets.
            try require(body, 8, offset)
            let count = Int(PcapngOption.number(body.u32(4), section.isBigEndian))
            guard count <= body.byteCount - 8 else {
                throw CaptureError(
                    kind: .badLength, offset: offset + 4, expected: "at most \(body.byteCount - 8) bytes of secrets",
                    found: "\(count)")
            }
            let kind = PcapngOption.number(body.u32(0), section.isBigEndian)
            if kind == PcapngOption.tlsKeyLog { receiver.learned(keyLog: body.extracting(8..<8 + count)) }
        case BlockType.interfaceStatistics:
            try require(body, 12, offset)
            takeEndTime(body, section)
            if let drops = newDrops(body, &section) { receiver.dropped(drops) }
        case BlockType.nameResolution: break
        default:
            try require(body, 16, offset)
            let major = PcapngOption.number(body.u16(4), section.isBigEndian)
            guard major == 1 else {
                throw CaptureError(
                    kind: .unknownVariant, offset: offset + 4, expected: "pcapng version 1", found: "version \(major)")
            }
        }
        return true
    }

    private func require(_ body: RawSpan, _ length: Int, _ offset: Int) throws(CaptureError) {
        guard body.byteCount >= length else {
            throw CaptureError(
                kind: .badLength, offset: offset, expected: "a block body of at least \(length) bytes",
                found: "\(body.byteCount)")
        }
    }

    /// A timestamp is two 32-bit halves, the upper one first in either byte order.
    @inline(__always)
    private static func time(_ body: RawSpan, _ offset: Int, _ bigEndian: Bool) -> UInt64 {
        UInt64(PcapngOption.number(body.u32(offset), bigEndian)) << 32
            | UInt64(PcapngOption.number(body.u32(offset + 4), bigEndian))
    }

    /// The fields common to the three kinds of packet block.
    private struct PacketFields {
        var interface: Int
        var units: UInt64?
        var captured: Int
        var original: Int
        /// Where in the body the packet starts.
        var start: Int
    }

    @inline(__always)
    private mutating func deliver<Receiver: PacketReceiver & ~Copyable>(
        _ fields: PacketFields, _ body: RawSpan, _ offset: Int, _ section: PcapngSection, to receiver: inout Receiver
    ) throws(CaptureError) -> Bool {
        guard fields.interface < section.interfaces.count else {
            throw CaptureError(
                kind: .unknownInterface, offset: offset,
                expected: "one of \(section.interfaces.count) interfaces", found: "interface \(fields.interface)")
        }
        guard body.byteCount - fields.start >= fields.captured else {
            throw CaptureError(
                kind: .badLength, offset: offset + fields.start,
                expected: "\(fields.captured) bytes of packet in its block",
                found: "\(body.byteCount - fields.start)")
        }
        let interface = section.interfaces[fields.interface]
        let time = fields.units.map { interface.resolution.instant($0) } ?? Timestamp(nanoseconds: 0)
        let end = fields.start + fields.captured
        let bytes = body.extracting(unchecked: fields.start..<end)
        var packet = PacketInfo(
            number: packetCount + 1, time: time, hasTime: fields.units != nil, interface: fields.interface,
            linkType: interface.linkType, capturedLength: fields.captured, originalLength: fields.original)
        packet.optionsAreBigEndian = section.isBigEndian
        packet.leg = interface.leg
        packet.units = fields.units ?? 0
        // A block's type and length come before its body, its length follows it.
        packet.place = Range(uncheckedBounds: (offset &- 8, offset &+ body.byteCount &+ 4))
        // A simple packet block has no options; padding follows its packet.
        let options = fields.units == nil ? body.byteCount : min((end + 3) & ~3, body.byteCount)
        let reception = receiver.receive(
            packet, bytes: bytes, options: body.extracting(unchecked: options..<body.byteCount))
        guard reception == .taken else { return false }
        packetCount += 1
        return true
    }

    /// The drops that interface statistics count in addition to the previous ones: their numbers count from the start of the
    /// capture. An impossible number, or one smaller than before, is ignored.
    private func newDrops(_ body: RawSpan, _ section: inout PcapngSection) -> CaptureDrops? {
        let big = section.isBigEndian
        let index = Int(PcapngOption.number(body.u32(0), big))
        guard index < section.interfaces.count else { return nil }
        let before = section.interfaces[index].drops
        var now = before
        PcapngOption.each(in: body.extracting(12..<body.byteCount), bigEndian: big) { code, value in
            guard value.byteCount == 8 else { return }
            let number = PcapngOption.number(value.u64(0), big)
            guard number < 1 << 48 else { return }
            if code == PcapngOption.interfaceDrops { now.byInterface = max(now.byInterface, number) }
            if code == PcapngOption.systemDrops { now.bySystem = max(now.bySystem, number) }
        }
        guard now != before else { return nil }
        section.interfaces[index].drops = now
        var new = CaptureDrops()
        new.byInterface = now.byInterface - before.byInterface
        new.bySystem = now.bySystem - before.bySystem
        return new
    }

    /// Interface statistics: interface (4), timestamp (8), options.
    private mutating func takeEndTime(_ body: RawSpan, _ section: PcapngSection) {
        let big = section.isBigEndian
        let index = Int(PcapngOption.number(body.u32(0), big))
        guard index < section.interfaces.count else { return }
        var latest = endTime
        PcapngOption.each(in: body.extracting(12..<body.byteCount), bigEndian: big) { code, value in
            guard code == PcapngOption.endTime, value.byteCount == 8 else { return }
            let end = section.interfaces[index].resolution.instant(Self.time(value, 0, big))
            latest = max(latest ?? end, end)
        }
        endTime = latest
    }
}

import Streams

/// The blocks of shards as bytes: a packet keeps the time, lengths and options that its file has for it.
///
/// Source: draft-ietf-opsawg-pcapng; numbers are little-endian.
struct ShardBlocks {
    /// How long a packet's block is before the packet.
    private static let headLength = 28
    /// The offset of the interface's number in a packet's block.
    private static let interfaceOffset = 8

    /// The options of the packet being written; their memory is reused.
    private var options: [UInt8] = []
    private var comment: [UInt8] = []

    /// Appends an enhanced packet block (section 4.3).
    ///
    /// - Parameters:
    ///   - bytes: what was captured of the packet.
    ///   - taken: the options that its file has for it.
    ///   - interface: its interface's number in the shard.
    ///   - units: its time in the units of its interface.
    ///   - origin: its number in its file, and the file's name; nil: it does not say so.
    mutating func append(
        _ packet: PacketInfo, _ bytes: RawSpan, _ taken: RawSpan, interface: Int, units: UInt64,
        origin: (number: Int, file: [UInt8])?, to shard: inout [UInt8]
    ) {
        let padding = -bytes.byteCount & 3
        if taken.byteCount == 0, origin == nil {
            let length = UInt64(Self.headLength + bytes.byteCount + padding + 4)
            shard.append(upTo: Self.headLength + bytes.byteCount + 2 * MemoryLayout<UInt64>.size) { room in
                Self.put(packet, bytes, interface, units, length, into: &room)
                room.put(first: padding + 4, of: length << UInt64(8 * padding))
            }
            return
        }
        collect(taken, of: packet, origin)
        let length = UInt64(Self.headLength + bytes.byteCount + padding + options.count + 4)
        shard.append(upTo: Self.headLength + bytes.byteCount + MemoryLayout<UInt64>.size) { room in
            Self.put(packet, bytes, interface, units, length, into: &room)
            room.put(first: padding, of: 0)
        }
        shard += options
        shard.append(first: 4, of: length)
    }

    /// Puts a packet's block up to its padding.
    @inline(__always)
    private static func put(
        _ packet: PacketInfo, _ bytes: RawSpan, _ interface: Int, _ units: UInt64, _ length: UInt64,
        into room: inout ByteRoom
    ) {
        room.put(first: 8, of: 6 | length << 32)
        room.put(first: 8, of: UInt64(UInt32(truncatingIfNeeded: interface)) | units & ~0xffff_ffff)
        room.put(first: 8, of: units & 0xffff_ffff | UInt64(bytes.byteCount) << 32)
        room.put(first: 4, of: UInt64(UInt32(truncatingIfNeeded: packet.originalLength)))
        room.put(bytes)
    }

    /// Puts a packet's options together, with their end.
    private mutating func collect(
        _ taken: RawSpan, of packet: PacketInfo, _ origin: (number: Int, file: [UInt8])?
    ) {
        options.removeAll(keepingCapacity: true)
        if taken.byteCount > 0 {
            PcapngOption.appendLittleEndian(
                taken, bigEndian: packet.optionsAreBigEndian, of: .packet, to: &options)
        }
        if let origin, !packet.hasOrigin(in: taken) {
            comment.removeAll(keepingCapacity: true)
            PacketOrigin.append(number: origin.number, of: origin.file, to: &comment)
            options.append(first: 2, of: UInt64(PcapngOption.comment))
            options.append(first: 2, of: UInt64(comment.count))
            options += comment
            options.padToWord()
        }
        if !options.isEmpty { options.append(first: 4, of: 0) }  // no more options
    }

    /// Sets the interface of a packet's block.
    static func number(_ interface: Int, in block: inout [UInt8]) {
        for byte in 0..<4 { block[interfaceOffset + byte] = UInt8(truncatingIfNeeded: interface >> (8 * byte)) }
    }

    /// An interface description block (section 4.2).
    static func description(of interface: CaptureInterface) -> [UInt8] {
        var block: [UInt8] = []
        block.append(first: 4, of: 1)
        block.append(first: 4, of: 0)
        block.append(first: 2, of: UInt64(interface.linkType.rawValue))
        block.append(first: 2, of: 0)
        block.append(first: 4, of: UInt64(UInt32(clamping: interface.snapLength)))
        block += interface.options
        if !interface.options.isEmpty { block.append(first: 4, of: 0) }
        close(&block)
        return block
    }

    /// An interface statistics block (section 4.6).
    ///
    /// - Parameters:
    ///   - interface: the interface's number in the shard.
    ///   - end: until when everything there was is in the capture, in units of the interface; nil: not known.
    ///   - drops: how many packets were lost.
    ///   - packets: how many packets the shard has.
    static func statistics(interface: Int, end: UInt64?, drops: CaptureDrops, packets: Int) -> [UInt8] {
        var block: [UInt8] = []
        func option(_ code: UInt16, _ words: (UInt64, UInt64)) {
            block.append(first: 2, of: UInt64(code))
            block.append(first: 2, of: 8)
            block.append(first: 4, of: words.0)
            block.append(first: 4, of: words.1)
        }
        block.append(first: 4, of: 5)
        block.append(first: 4, of: 0)
        block.append(first: 4, of: UInt64(interface))
        block.append(first: 4, of: (end ?? 0) >> 32)
        block.append(first: 4, of: end ?? 0)
        // A time has its upper half first, a number its lower one.
        if let end { option(PcapngOption.endTime, (end >> 32, end)) }
        if drops.byInterface > 0 {
            option(PcapngOption.interfaceDrops, (drops.byInterface, drops.byInterface >> 32))
        }
        if drops.bySystem > 0 { option(PcapngOption.systemDrops, (drops.bySystem, drops.bySystem >> 32)) }
        option(8, (UInt64(packets), UInt64(packets) >> 32))  // isb_usrdeliv
        block.append(first: 4, of: 0)
        close(&block)
        return block
    }

    /// The length of a block that is otherwise complete, after its type and at its end.
    static func close(_ block: inout [UInt8]) {
        let length = block.count + 4
        block.append(first: 4, of: UInt64(length))
        for byte in 0..<4 { block[4 + byte] = UInt8(truncatingIfNeeded: length >> (8 * byte)) }
    }
}

extension [UInt8] {
    /// Fills up to a multiple of 4 bytes.
    mutating func padToWord() {
        while count & 3 != 0 { append(0) }
    }
}

import Streams

/// Writes the blocks of a pcapng file, one after another, into buffers, which the caller handles.
///
/// A section header comes first, then the description of each interface, then packets, and statistics at the end. Each call
/// appends one whole block, so that a file truncated after any of them is readable up to there. Numbers are little-endian.
///
/// Source: draft-ietf-opsawg-pcapng.
package struct PcapngWriter: Sendable {
    /// LINKTYPE_RAW: a packet begins with its IPv4 or IPv6 header (draft-ietf-opsawg-pcaplinktype).
    package static let rawIP: UInt16 = 101

    private var interfaceCount = 0

    /// A writer for a new file.
    package init() {}

    /// Appends a section header block (section 4.1). The interfaces of the previous section are forgotten.
    ///
    /// - Parameters:
    ///   - application: the program that writes the file (`shb_userappl`).
    ///   - comment: text for humans (`opt_comment`).
    ///   - buffer: where the block goes.
    package mutating func appendSectionHeader(
        application: String, comment: String? = nil, to buffer: inout [UInt8]
    ) {
        interfaceCount = 0
        PcapngBlock.append(type: 0x0a0d_0d0a, to: &buffer) { block in
            block.append(UInt32(0x1a2b_3c4d))
            block.append(UInt16(1))  // major version
            block.append(UInt16(0))  // minor version
            block.append(UInt64.max)  // the section's length is not known yet
            if let comment { block.appendOption(1, text: comment) }
            block.appendOption(4, text: application)
        }
    }

    /// Appends an interface description block (section 4.2): times in nanoseconds (`if_tsresol` 9), packets of any length.
    ///
    /// - Parameters:
    ///   - name: what the interface is called (`if_name`).
    ///   - linkType: what its packets begin with.
    ///   - snapLength: at most how many bytes of a packet are kept; 0: all.
    ///   - filter: which packets are kept, in libpcap's filter language (`if_filter`).
    ///   - buffer: where the block goes.
    /// - Returns: the interface's number in this section, from 0.
    package mutating func appendInterface(
        name: String, linkType: UInt16 = PcapngWriter.rawIP, snapLength: Int = 0, filter: String? = nil,
        to buffer: inout [UInt8]
    ) -> Int {
        PcapngBlock.append(type: 1, to: &buffer) { block in
            block.append(linkType)
            block.append(UInt16(0))  // reserved
            block.append(UInt32(clamping: snapLength))
            block.appendOption(2, text: name)
            block.appendOption(9, bytes: [9])
            // A first byte of 0: the rest is a filter string.
            if let filter { block.appendOption(11, text: "\0" + filter) }
        }
        interfaceCount += 1
        return interfaceCount - 1
    }

    /// Appends an enhanced packet block (section 4.3) with a whole packet.
    ///
    /// - Parameters:
    ///   - packet: its bytes, from the link layer's header on.
    ///   - originalLength: how many bytes it had on the wire; nil: as many as `packet`.
    ///   - time: when it was seen; before 1970 becomes 1970, since pcapng has no sign.
    ///   - interface: what `appendInterface` returned.
    ///   - comment: text for humans (`opt_comment`); truncated at a character boundary to 65,535 bytes of UTF-8.
    ///   - droppedPackets: how many packets were lost between the previous one and this one (`epb_dropcount`).
    ///   - buffer: where the block goes.
    package func appendPacket(
        _ packet: RawSpan, originalLength: Int? = nil, at time: Timestamp, interface: Int = 0, comment: String? = nil,
        droppedPackets: UInt64? = nil, to buffer: inout [UInt8]
    ) {
        PcapngBlock.append(type: PcapngBlock.packet, to: &buffer) { block in
            block.append(UInt32(truncatingIfNeeded: interface))
            block.append(time)
            block.append(UInt32(truncatingIfNeeded: packet.byteCount))  // captured
            block.append(UInt32(truncatingIfNeeded: originalLength ?? packet.byteCount))  // on the wire
            block.append(contentsOf: packet)
            block.pad()
            if let comment { block.appendOption(1, text: comment) }
            if let droppedPackets { block.appendOption(4, number: droppedPackets) }
        }
    }

    /// Appends a decryption secrets block (section 4.7) with lines of an NSS key log.
    package func appendSecrets(keyLog: RawSpan, to buffer: inout [UInt8]) {
        PcapngBlock.append(type: 10, to: &buffer) { block in
            block.append(UInt32(0x544c_534b))
            block.append(UInt32(truncatingIfNeeded: keyLog.byteCount))
            block.append(contentsOf: keyLog)
            block.pad()
        }
    }

    /// Appends an interface statistics block (section 4.6).
    ///
    /// - Parameters:
    ///   - interface: what `appendInterface` returned.
    ///   - start: when recording began (`isb_starttime`).
    ///   - end: when it ended: until then nothing was seen that is not in the file (`isb_endtime`). Also the block's own time.
    ///   - received: how many packets there were, including those not in the file (`isb_ifrecv`).
    ///   - interfaceDropped: how many the interface dropped for lack of space (`isb_ifdrop`); nil: not counted.
    ///   - dropped: how many the system dropped for lack of space (`isb_osdrop`); nil: not counted.
    ///   - delivered: how many packets are in the file (`isb_usrdeliv`).
    ///   - buffer: where the block goes.
    package func appendStatistics(
        interface: Int = 0, start: Timestamp, end: Timestamp, received: UInt64, interfaceDropped: UInt64? = nil,
        dropped: UInt64? = nil, delivered: UInt64, to buffer: inout [UInt8]
    ) {
        PcapngBlock.append(type: 5, to: &buffer) { block in
            block.append(UInt32(truncatingIfNeeded: interface))
            block.append(end)
            block.appendOption(2, time: start)
            block.appendOption(3, time: end)
            block.appendOption(4, number: received)
            if let interfaceDropped { block.appendOption(5, number: interfaceDropped) }
            if let dropped { block.appendOption(7, number: dropped) }
            block.appendOption(8, number: delivered)
        }
    }

    /// The length of the complete blocks that a truncated file of this writer begins with, in bytes.
    package static func completeLength(of file: RawSpan) -> Int {
        var length = 0
        while file.byteCount - length >= PcapngBlock.headerLength {
            let block = PcapngBlock.length(ofHeader: file.extracting(length...))
            guard block >= PcapngBlock.headerLength, block <= file.byteCount - length else { break }
            length += block
        }
        return length
    }

    /// How many packets whole blocks of this writer have.
    package static func packetCount(in blocks: RawSpan) -> Int {
        var (count, start) = (0, 0)
        while blocks.byteCount - start >= PcapngBlock.headerLength {
            let block = blocks.extracting(start...)
            if PcapngBlock.type(ofHeader: block) == PcapngBlock.packet { count += 1 }
            start += max(PcapngBlock.headerLength, PcapngBlock.length(ofHeader: block))
        }
        return count
    }
}

import Streams

/// A capture file's metadata of one packet.
package struct PacketInfo: Hashable, Sendable {
    /// Counts from 1 in file order.
    package var number: Int
    /// When the packet was captured; 1970 for a packet without a time (simple packet block).
    package var time: Timestamp
    /// Whether the file has a time for this packet.
    package var hasTime: Bool
    /// The index of the interface within its section (pcapng), or 0.
    package var interface: Int
    /// What the packet begins with.
    package var linkType: LinkType
    /// How many bytes of the packet the file holds.
    package var capturedLength: Int
    /// How many bytes the packet had on the wire, according to the file.
    package var originalLength: Int
    /// The leg of its connection, if a proxy recorded it whose rules may change what passes.
    package var leg: Leg?
    /// Its time as the file has it, in the units of its interface.
    package var units: UInt64 = 0
    /// Where its record or block is: bytes from the start of the file, or of a compressed file's content.
    package var place = 0..<0
    /// The byte order of the options.
    var optionsAreBigEndian = false

    /// Metadata of one packet.
    package init(
        number: Int, time: Timestamp, hasTime: Bool = true, interface: Int = 0, linkType: LinkType,
        capturedLength: Int, originalLength: Int
    ) {
        self.number = number
        self.time = time
        self.hasTime = hasTime
        self.interface = interface
        self.linkType = linkType
        self.capturedLength = capturedLength
        self.originalLength = originalLength
    }

    /// The packet's comments (pcapng `opt_comment`), decoded leniently as UTF-8.
    ///
    /// - Parameter options: the options passed with this packet to `PacketReceiver.receive`.
    package func comments(in options: RawSpan) -> [String] {
        var comments: [String] = []
        PcapngOption.each(in: options, bigEndian: optionsAreBigEndian) { code, value in
            if code == PcapngOption.comment {
                comments.append(value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
            }
        }
        return comments
    }

    /// The text after `frametap ` in the first line of the packet's first option, if that is such a comment.
    func annotation(in options: RawSpan) -> String? {
        guard options.byteCount > 4 + Self.annotationMark.count,
            PcapngOption.number(options.u16(0), optionsAreBigEndian) == PcapngOption.comment
        else { return nil }
        let length = Int(PcapngOption.number(options.u16(2), optionsAreBigEndian))
        guard length > Self.annotationMark.count, length <= options.byteCount - 4 else { return nil }
        for (offset, byte) in Self.annotationMark.enumerated() where options[byte: 4 + offset] != byte { return nil }
        let text = options.extracting(4 + Self.annotationMark.count..<4 + length)
        if PacketOrigin.isOrigin(annotation: text) { return nil }
        return text.withUnsafeBytes { String(decoding: $0.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self) }
    }

    /// What comments begin with that a recording of frametap has for its reader.
    package static let annotationMark = Array("frametap ".utf8)

    /// How many packets of its interface were lost between the previous one and this one (pcapng `epb_dropcount`); 0 if the file
    /// does not say.
    ///
    /// - Parameter options: the options passed with this packet to `PacketReceiver.receive`.
    package func droppedBefore(in options: RawSpan) -> UInt64 {
        var count: UInt64 = 0
        PcapngOption.each(in: options, bigEndian: optionsAreBigEndian) { code, value in
            if code == PcapngOption.dropCount, value.byteCount == 8 {
                count = PcapngOption.number(value.u64(0), optionsAreBigEndian)
            }
        }
        return count
    }
}

/// How many packets were lost while a capture was made, according to its interface statistics.
package struct CaptureDrops: Hashable, Sendable {
    /// Packets that the interface dropped for lack of space (pcapng `isb_ifdrop`).
    package var byInterface: UInt64 = 0
    /// Packets that the operating system dropped (pcapng `isb_osdrop`).
    package var bySystem: UInt64 = 0

    /// None.
    package init() {}
}

/// A pcapng file's description of an interface, or what a pcap file's header says.
package struct CaptureInterface: Hashable, Sendable {
    /// The index within its section: each section counts from 0 again.
    package var index: Int
    /// Its name in the system (`if_name`), decoded leniently as UTF-8.
    package var name: String?
    /// What its packets begin with.
    package var linkType: LinkType
    /// At most how many bytes of a packet are captured; 0: all.
    package var snapLength = 0
    /// Its options as pcapng has them, little-endian, without their end.
    package var options: [UInt8] = []
    /// How it counts time.
    var resolution = TimeResolution()
}

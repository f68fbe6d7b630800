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

    /// The text behind `frametap ` in the first line of the packet's first option, if that is such a comment.
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

/// Receives the packets of a capture.
///
/// It is passed `inout`: a receiver that is a structure pays nothing for exclusive access to its state.
package protocol PacketReceiver: ~Copyable {
    /// The next packet.
    ///
    /// - Parameters:
    ///   - packet: its metadata.
    ///   - bytes: its captured bytes, borrowed for the duration of the call.
    ///   - options: the options of its pcapng block, for `PacketInfo.comments(in:)`; otherwise empty.
    /// - Returns: `.stop` leaves this packet and all after it unread: the next read starts with it.
    mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception

    /// Whether `passOver` passes over packets. Optional to implement.
    var passesOver: Bool { get }

    /// Passes over packets of Ethernet that follow one another and need not be received one by one. Optional to implement.
    ///
    /// - Parameters:
    ///   - window: bytes of a capture file.
    ///   - at: where the next record begins, before and after.
    ///   - position: the offset of the window in the file.
    ///   - runs: where packets of other shares are in the window, if that is known.
    ///   - record: the record that begins at an offset; nil if it is another one, is damaged, or is not whole in the window.
    /// - Returns: how many packets were passed over.
    mutating func passOver(
        _ window: RawSpan, from at: inout Int, position: Int, runs: inout ForeignRuns?,
        record: (_ at: Int) -> PassedPackets.Record?
    ) -> Int

    /// Receives packets of Ethernet that follow one another and are so common that no more need be known of them than their records.
    /// Optional to implement.
    ///
    /// - Parameters:
    ///   - window: bytes of a capture file without legs and comments.
    ///   - at: where the next record begins, before and after.
    ///   - number: the number of the packet before it.
    ///   - record: as for `passOver`.
    /// - Returns: how many packets were received. The next one has to be received otherwise, if there is one.
    mutating func receiveCommon(
        _ window: RawSpan, from at: inout Int, after number: Int, record: (_ at: Int) -> PassedPackets.Record?
    ) -> Int

    /// Passes on the packets of a window (`CaptureParser.parse`). Optional to implement: a receiver that does gets a parser that is
    /// specialized for it, without a call through the protocol for each packet.
    mutating func parse(
        _ window: RawSpan, isLast: Bool, by parser: inout CaptureParser
    ) throws(CaptureError) -> CaptureParser.Progress

    /// An interface is described, before its first packet. Optional to implement.
    mutating func described(_ interface: CaptureInterface)

    /// The file reports packets lost while it was captured, in addition to those reported before. Optional to implement.
    mutating func dropped(_ drops: CaptureDrops)

    /// The file has secrets of TLS connections, in the form of an NSS key log (a decryption secrets block). Optional to implement.
    mutating func learned(keyLog: RawSpan)

    /// The file has ended, and states that nothing more was seen until `time` (pcapng `isb_endtime`).
    mutating func captured(until time: Timestamp)

    /// What follows is of another of several captures that are read as one. Optional to implement.
    ///
    /// - Parameter capture: its place among the captures, from 0; the first is assumed until this is called.
    mutating func turned(to capture: Int)

    /// The file has something other than a packet that reading or decoding its packets depends on. Optional to implement.
    ///
    /// - Parameters:
    ///   - block: what it is, and where.
    ///   - body: a block's content without its type and lengths, or the whole header of a pcap file.
    mutating func passed(_ block: CaptureBlock, body: RawSpan)

    /// Whether name resolution blocks are read for `passed`: decoding needs none. Optional to implement.
    static var readsNames: Bool { get }
}

extension PacketReceiver where Self: ~Copyable {
    /// All are received.
    package var passesOver: Bool { false }

    /// All are received.
    package mutating func passOver(
        _ window: RawSpan, from at: inout Int, position: Int, runs: inout ForeignRuns?,
        record: (_ at: Int) -> PassedPackets.Record?
    ) -> Int { 0 }

    /// All are received otherwise.
    package mutating func receiveCommon(
        _ window: RawSpan, from at: inout Int, after number: Int, record: (_ at: Int) -> PassedPackets.Record?
    ) -> Int { 0 }

    /// Passes on the packets of a window.
    package mutating func parse(
        _ window: RawSpan, isLast: Bool, by parser: inout CaptureParser
    ) throws(CaptureError) -> CaptureParser.Progress {
        try parser.parse(window, isLast: isLast, to: &self)
    }

    /// Does not care.
    package mutating func turned(to capture: Int) {}

    /// Ignores it.
    package mutating func passed(_ block: CaptureBlock, body: RawSpan) {}

    /// It does not.
    package static var readsNames: Bool { false }

    /// Ignores the description.
    package mutating func described(_ interface: CaptureInterface) {}

    /// Ignores them.
    package mutating func learned(keyLog: RawSpan) {}

    /// Ignores them.
    package mutating func dropped(_ drops: CaptureDrops) {}
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

/// What a receiver has done with a packet.
package enum Reception: Sendable {
    /// It was taken; continue.
    case taken
    /// It was not taken; stop before it.
    case stop
}

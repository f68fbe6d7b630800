import Streams

/// What a capture file says about one packet, beside its bytes.
public struct PacketInfo: Hashable, Sendable {
    /// Counts from 1 in the order of the file.
    public var number: Int
    /// When the packet was captured; 1970 for a packet without a time (simple packet block).
    public var time: Timestamp
    /// Whether the file has a time for this packet.
    public var hasTime: Bool
    /// The index of the interface within its section (pcapng), or 0.
    public var interface: Int
    /// What the packet's first byte belongs to.
    public var linkType: LinkType
    /// How many bytes of the packet the file holds.
    public var capturedLength: Int
    /// How many bytes the packet had on the wire, as the file tells it.
    public var originalLength: Int
    /// The byte order of the options.
    var optionsAreBigEndian = false

    /// What a capture file says about one packet.
    public init(
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
    /// - Parameter options: the options that came with this packet to `PacketReceiver.receive`.
    public func comments(in options: RawSpan) -> [String] {
        var comments: [String] = []
        PcapngOption.each(in: options, bigEndian: optionsAreBigEndian) { code, value in
            if code == PcapngOption.comment {
                comments.append(value.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
            }
        }
        return comments
    }

    /// How many packets of its interface were lost between the one before and this one (pcapng `epb_dropcount`); 0 where the
    /// file does not say.
    ///
    /// - Parameter options: the options that came with this packet to `PacketReceiver.receive`.
    public func droppedBefore(in options: RawSpan) -> UInt64 {
        var count: UInt64 = 0
        PcapngOption.each(in: options, bigEndian: optionsAreBigEndian) { code, value in
            if code == PcapngOption.dropCount, value.byteCount == 8 {
                count = PcapngOption.number(value.u64(0), optionsAreBigEndian)
            }
        }
        return count
    }
}

/// What takes the packets of a capture.
///
/// It is handed over `inout`: a receiver that is a structure pays nothing for exclusive access to its state.
public protocol PacketReceiver: ~Copyable {
    /// The next packet.
    ///
    /// - Parameters:
    ///   - packet: what the file says about it.
    ///   - bytes: its captured bytes, borrowed for the time of the call.
    ///   - options: the options of its pcapng block, for `PacketInfo.comments(in:)`; else empty.
    /// - Returns: `.stop` leaves this packet and all after it unread: the next reading starts with it.
    mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception

    /// An interface is described, before its first packet. Whoever does not care need not implement it.
    mutating func described(_ interface: CaptureInterface)

    /// The file says that packets were lost while it was captured: so many more than it said before. Whoever does not care need
    /// not implement it.
    mutating func dropped(_ drops: CaptureDrops)

    /// The file has ended, and says that nothing more was seen until `time` (pcapng `isb_endtime`).
    mutating func captured(until time: Timestamp)
}

extension PacketReceiver where Self: ~Copyable {
    /// Passes over the description.
    public mutating func described(_ interface: CaptureInterface) {}

    /// Does not count them.
    public mutating func dropped(_ drops: CaptureDrops) {}
}

/// How many packets were lost while a capture was made, as its interface statistics say.
public struct CaptureDrops: Hashable, Sendable {
    /// Those that the interface lost for want of room (pcapng `isb_ifdrop`).
    public var byInterface: UInt64 = 0
    /// Those that the operating system lost (pcapng `isb_osdrop`).
    public var bySystem: UInt64 = 0

    /// None.
    public init() {}
}

/// What a pcapng file says about an interface.
public struct CaptureInterface: Hashable, Sendable {
    /// The index within its section: in a new section they count from 0 again.
    public var index: Int
    /// What the system calls it (`if_name`), decoded leniently as UTF-8.
    public var name: String?
    /// What its packets begin with.
    public var linkType: LinkType
}

/// What a receiver has done with a packet.
public enum Reception: Sendable {
    /// It is taken; go on.
    case taken
    /// It is not taken; stop in front of it.
    case stop
}

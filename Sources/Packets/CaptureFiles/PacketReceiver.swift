import Streams

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

/// What a receiver has done with a packet.
package enum Reception: Sendable {
    /// It was taken; continue.
    case taken
    /// It was not taken; stop before it.
    case stop
}

import Streams

/// Extracts packets from the bytes of a capture file, pcap or pcapng, incrementally.
///
/// It does no I/O and keeps no bytes: given a window of the file, it passes on every packet that lies whole in it as a borrowed
/// span, and returns how far it got. `CaptureReader` moves the window over a source; a mapped file is one window.
package struct CaptureParser: Sendable {
    /// How far a call to `parse` got.
    package struct Progress: Hashable, Sendable {
        /// How many bytes of the window were consumed. The next window starts after them.
        package var consumed: Int
        /// How many bytes the next window needs to make progress.
        package var wanted: Int
        /// Whether the receiver asked to stop.
        package var stopped: Bool
    }

    enum State: Sendable {
        case start
        case pcap(PcapHeader)
        case pcapng(PcapngSection)
    }

    var state = State.start
    /// The offset in the file of the window's first byte.
    var position = 0
    /// How many packets were passed on.
    package internal(set) var packetCount = 0
    /// The latest `isb_endtime`.
    var endTime: Timestamp?
    /// How many bytes of an unwanted block remain to be skipped.
    var toSkip = 0
    /// Where the packets of other shares are in the window, if that is known.
    var foreignRuns: ForeignRuns?

    /// A parser at the start of a file.
    package init() {}

    /// The longest packet that a file with this snapshot length may have: libpcap's 262,144 bytes, or more if the file says so,
    /// up to 128 MiB (the most that libpcap allows for any link type).
    static func maximumPacketLength(snapLength: Int) -> Int {
        max(262_144, min(snapLength, 128 << 20))
    }

    /// Passes on the packets that lie whole in `window`.
    ///
    /// - Parameters:
    ///   - window: the next bytes of the file, beginning where the last call's `consumed` ended.
    ///   - isLast: whether the file ends with this window. Then leftover bytes are an error.
    ///   - receiver: receives the packets.
    /// - Throws: `CaptureError` if the file is damaged or ends too early. Everything before has been passed on.
    package mutating func parse<Receiver: PacketReceiver & ~Copyable>(
        _ window: RawSpan, isLast: Bool, to receiver: inout Receiver
    ) throws(CaptureError) -> Progress {
        var progress = Progress(consumed: 0, wanted: 0, stopped: false)
        repeat {
            let rest = window.extracting(unchecked: progress.consumed..<window.byteCount)
            let step: Progress
            if toSkip > 0 {
                step = skip(rest)
            } else {
                switch state {
                case .start: step = try start(rest, to: &receiver)
                case .pcap(let header): step = try parsePcap(rest, header, to: &receiver)
                case .pcapng(var section):
                    state = .start  // so that the section's array is not copied when it is changed
                    defer { state = .pcapng(section) }
                    step = try parsePcapng(rest, &section, to: &receiver)
                }
            }
            position += step.consumed
            progress.consumed += step.consumed
            progress.wanted = step.wanted
            progress.stopped = step.stopped
            if step.wanted > rest.byteCount - step.consumed || step.stopped { break }
        } while progress.consumed < window.byteCount
        if isLast, !progress.stopped { try end(left: window.byteCount - progress.consumed, progress, &receiver) }
        return progress
    }

    /// Recognizes what kind of file it is.
    private mutating func start<Receiver: PacketReceiver & ~Copyable>(
        _ window: RawSpan, to receiver: inout Receiver
    ) throws(CaptureError) -> Progress {
        guard window.byteCount >= 4 else { return Progress(consumed: 0, wanted: 4, stopped: false) }
        let magic = window.u32(0)
        if magic == PcapngSection.blockType {
            state = .pcapng(PcapngSection())
            return Progress(consumed: 0, wanted: 12, stopped: false)
        }
        // Four bytes are enough to reject a file that is not a capture.
        guard PcapHeader.isMagic(magic) else {
            let compression = CaptureCompression(magic: magic)
            throw CaptureError(
                kind: compression.map { .compressed($0) } ?? (magic == CaptureMagic.trace ? .trace : .notACapture),
                offset: position, expected: "a pcap, pcapng or gzip magic number",
                found: compression.map { "that of \($0.rawValue)" } ?? Self.shown(magic))
        }
        guard window.byteCount >= PcapHeader.byteCount else {
            return Progress(consumed: 0, wanted: PcapHeader.byteCount, stopped: false)
        }
        let header = try PcapHeader(window)
        state = .pcap(header)
        receiver.passed(
            CaptureBlock(
                kind: .header, place: position..<position + PcapHeader.byteCount, isBigEndian: header.isBigEndian),
            body: window.extracting(0..<PcapHeader.byteCount))
        receiver.described(header.interface)
        return Progress(consumed: PcapHeader.byteCount, wanted: 0, stopped: false)
    }

    /// Four bytes in hex, and as text if printable: `0x3c68746d ("<htm")`.
    private static func shown(_ magic: UInt32) -> String {
        let digits = String(magic, radix: 16)
        let hex = "0x" + String(repeating: "0", count: 8 - digits.count) + digits
        let bytes = (0..<4).map { UInt8(truncatingIfNeeded: magic >> (24 - 8 * $0)) }
        guard bytes.allSatisfy({ (0x20..<0x7f).contains($0) }) else { return hex }
        return "\(hex) (\"\(String(decoding: bytes, as: UTF8.self))\")"
    }

    /// Skips the rest of an unwanted block.
    private mutating func skip(_ window: RawSpan) -> Progress {
        let skipped = min(toSkip, window.byteCount)
        toSkip -= skipped
        return Progress(consumed: skipped, wanted: toSkip > 0 ? 1 : 0, stopped: false)
    }

    private func end<Receiver: PacketReceiver & ~Copyable>(
        left: Int, _ progress: Progress, _ receiver: inout Receiver
    ) throws(CaptureError) {
        guard left == 0, toSkip == 0 else {
            throw CaptureError(
                kind: .truncated, offset: position,
                expected: toSkip > 0 ? "\(toSkip) more bytes of a block" : expected(progress.wanted),
                found: left == 0 ? "the end of the file" : "the end of the file after \(left) of them")
        }
        if case .start = state {
            throw CaptureError(
                kind: .truncated, offset: position, expected: "a capture file's header", found: "the end of the file")
        }
        if let endTime { receiver.captured(until: endTime) }
    }

    /// What the next `wanted` bytes should have been.
    private func expected(_ wanted: Int) -> String {
        switch state {
        case .start: "\(wanted) bytes of a capture file's header"
        case .pcap(let header):
            wanted == header.recordHeaderLength ? "\(wanted) bytes of a record header" : "\(wanted) bytes of a record"
        case .pcapng: wanted == 12 ? "the 12 bytes that every block has" : "\(wanted) bytes of a block"
        }
    }
}

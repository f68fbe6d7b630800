import Streams

/// Records of a pcap file: seconds, fraction, captured and original length, then the bytes. Another file may follow the last one.
///
/// Source: draft-ietf-opsawg-pcap, section 5.
extension CaptureParser {
    mutating func parsePcap<Receiver: PacketReceiver & ~Copyable>(
        _ window: RawSpan, _ header: PcapHeader, to receiver: inout Receiver
    ) throws(CaptureError) -> Progress {
        let swapped = !header.isBigEndian
        let headerLength = header.recordHeaderLength
        let unitsPerSecond = UInt64(1_000_000_000 / header.nanosecondsPerUnit)
        var at = 0
        var packet = PacketInfo(
            number: packetCount, time: Timestamp(nanoseconds: 0), linkType: header.linkType, capturedLength: 0,
            originalLength: 0)
        let hasPlainRecords = header.hasPlainRecords
        let passesOver = hasPlainRecords && receiver.passesOver
        defer { packetCount = packet.number }
        while true {
            if passesOver {
                packet.number &+= receiver.passOver(window, from: &at, position: position, runs: &foreignRuns) { at in
                    header.record(at, of: window)
                }
            }
            if hasPlainRecords {
                let count = receiver.receiveCommon(window, from: &at, after: packet.number) { at in
                    header.record(at, of: window)
                }
                packet.number &+= count
                if count > 0, passesOver { continue }
            }
            let record = window.extracting(unchecked: at..<window.byteCount)
            // The second condition follows from the first, and is all that the compiler needs to know.
            guard record.byteCount >= headerLength, record.byteCount >= 16 else { break }
            @inline(__always)
            func field(_ index: Int) -> UInt32 {
                let loaded = record.u32(4 * index)
                return swapped ? loaded.byteSwapped : loaded
            }
            var (captured, original) = (Int(field(2)), Int(field(3)))
            if header.lengthOrder != .capturedFirst,
                header.lengthOrder == .originalFirst || captured > original
            {
                (captured, original) = (original, captured)
            }
            if captured == 0, original == 0, PcapHeader.begins(record) {
                state = .start
                return Progress(consumed: at, wanted: PcapHeader.byteCount, stopped: false)
            }
            guard captured <= header.maximumLength else {
                throw CaptureError(
                    kind: .badLength, offset: position + at + 8,
                    expected: "a captured length of at most \(header.maximumLength)", found: "\(captured)")
            }
            guard record.byteCount &- headerLength >= captured else {
                return Progress(consumed: at, wanted: headerLength + captured, stopped: false)
            }
            let start = at &+ headerLength
            let bytes = record.extracting(unchecked: headerLength..<headerLength &+ captured)
            packet.number &+= 1
            packet.time = Timestamp(
                nanoseconds: Int64(field(0)) &* 1_000_000_000 &+ Int64(field(1)) &* header.nanosecondsPerUnit)
            packet.units = UInt64(field(0)) &* unitsPerSecond &+ UInt64(field(1))
            packet.capturedLength = captured
            packet.originalLength = original
            packet.place = Range(uncheckedBounds: (position &+ at, position &+ start &+ captured))
            let reception = receiver.receive(
                packet, bytes: bytes, options: window.extracting(unchecked: 0..<0))
            guard reception == .taken else {
                packet.number &-= 1
                return Progress(consumed: at, wanted: headerLength + captured, stopped: true)
            }
            at = start &+ captured
        }
        return Progress(consumed: at, wanted: at < window.byteCount ? headerLength : 0, stopped: false)
    }
}

extension PcapHeader {
    /// Whether records are little-endian, have the captured length first, and hold packets of Ethernet: `record` reads only these.
    fileprivate var hasPlainRecords: Bool { linkType == .ethernet && lengthOrder == .capturedFirst && !isBigEndian }

    /// The record at an offset, if it is whole; only if `hasPlainRecords`.
    @inline(__always)
    fileprivate func record(_ at: Int, of window: RawSpan) -> PassedPackets.Record? {
        let start = at &+ recordHeaderLength
        guard start <= window.byteCount else { return nil }
        let captured = Int(window.u32(unchecked: at &+ 8).byteSwapped)
        guard captured <= maximumLength, captured <= window.byteCount &- start else { return nil }
        let seconds = Int64(window.u32(unchecked: at).byteSwapped)
        let fraction = Int64(window.u32(unchecked: at &+ 4).byteSwapped)
        return PassedPackets.Record(
            start: start, captured: captured,
            time: Timestamp(nanoseconds: seconds &* 1_000_000_000 &+ fraction &* nanosecondsPerUnit),
            end: start &+ captured)
    }
}

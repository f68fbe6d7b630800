/// Writes TCP segments of one-way connections as a capture, a piece at a time.
///
/// Ethernet, IPv4 and TCP headers without options, checksums left 0, one segment every 3 µs. The servers' port is 8088.
///
/// Source: draft-ietf-opsawg-pcap section 4, RFC 791 section 3.1, RFC 9293 section 3.1.
struct CaptureWriter {
    /// How many bytes are given away at once.
    private static let piece = 1 << 20
    private static let recordHeader = 16
    private static let headers = 14 + 20 + 20

    private let take: ([UInt8]) -> Void
    private var bytes: [UInt8] = []
    private var microseconds: UInt64 = 1_700_000_000_000_000
    /// The record and packet headers, of which a few fields differ from segment to segment.
    private var head: [UInt8]

    init(_ take: @escaping ([UInt8]) -> Void) {
        self.take = take
        bytes.reserveCapacity(CaptureWriter.piece + 70_000)
        head = Array(repeating: 0, count: CaptureWriter.recordHeader + CaptureWriter.headers)
        head[28] = 0x08  // IPv4
        head[30] = 0x45
        head[38] = 64  // time to live
        head[39] = 6  // TCP
        head[46...49] = [10, 128, 0, 1]
        head[52...53] = [0x1f, 0x98]  // port 8088
        head[62] = 5 << 4  // five words of TCP header
        head[64...65] = [255, 255]
        for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 262_144, 1] as [UInt32] {
            withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
        }
    }

    /// Writes a segment.
    ///
    /// - Parameters:
    ///   - connection: its number, from 0: the client's address and port follow from it.
    ///   - isSYN: whether it is the connection's first, and has no payload.
    mutating func segment(
        of connection: Int, sequence: UInt32, isSYN: Bool = false, payload: ArraySlice<UInt8> = []
    ) {
        let length = UInt32(CaptureWriter.headers + payload.count)
        little(UInt32(microseconds / 1_000_000), at: 0)
        little(UInt32(microseconds % 1_000_000), at: 4)
        little(length, at: 8)
        little(length, at: 12)
        microseconds += 3
        let total = 40 + payload.count
        (head[32], head[33]) = (UInt8(total >> 8), UInt8(total & 255))
        big(0x0a00_0001 + UInt32(connection), at: 42)
        let port = 40_000 + connection % 20_000
        (head[50], head[51]) = (UInt8(port >> 8), UInt8(port & 255))
        big(sequence, at: 54)
        head[63] = isSYN ? 0x02 : 0x18
        bytes += head
        bytes += payload
        if bytes.count >= CaptureWriter.piece { flush() }
    }

    /// Gives away what is left.
    mutating func flush() {
        take(bytes)
        bytes.removeAll(keepingCapacity: true)
    }

    private mutating func little(_ value: UInt32, at place: Int) { big(value.byteSwapped, at: place) }

    private mutating func big(_ value: UInt32, at place: Int) {
        head[place] = UInt8(truncatingIfNeeded: value >> 24)
        head[place + 1] = UInt8(truncatingIfNeeded: value >> 16)
        head[place + 2] = UInt8(truncatingIfNeeded: value >> 8)
        head[place + 3] = UInt8(truncatingIfNeeded: value)
    }
}

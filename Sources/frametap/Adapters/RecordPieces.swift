import Packets
import Streams
import Trace

/// The pieces that a record consists of: after a write error, those that are complete stay in its file.
enum RecordPieces {
    /// Lines of a trace.
    case lines
    /// Blocks of a pcapng capture.
    case blocks

    /// The length of the complete pieces that `bytes`, which begin with a piece, begin with.
    func completeLength(of bytes: ArraySlice<UInt8>) -> Int {
        switch self {
        case .lines: bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 - bytes.startIndex } ?? 0
        case .blocks: PcapngWriter.completeLength(of: bytes.span.bytes)
        }
    }

    /// How many lines, or packets, whole pieces are.
    func count(in bytes: ArraySlice<UInt8>) -> Int {
        switch self {
        case .lines: bytes.count { $0 == UInt8(ascii: "\n") }
        case .blocks: PcapngWriter.packetCount(in: bytes.span.bytes)
        }
    }

    /// A number of lines, or packets, in words.
    func counted(_ count: Int) -> String {
        switch self {
        case .lines: Quantities.counted(count, "line")
        case .blocks: Quantities.counted(count, "packet")
        }
    }
}

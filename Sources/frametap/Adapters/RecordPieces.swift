import Packets
import Streams

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
}

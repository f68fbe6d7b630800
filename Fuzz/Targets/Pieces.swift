import Packets
import Streams

/// Bytes that come in pieces.
struct Pieces: SkippableSource {
    var bytes: ArraySlice<UInt8>
    let size: Int

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Never) -> Int {
        let piece = bytes.prefix(min(size, buffer.count))
        buffer.copyBytes(from: piece)
        bytes = bytes.dropFirst(piece.count)
        return piece.count
    }

    mutating func skip(_ count: Int) throws(Never) { bytes = bytes.dropFirst(count) }
}

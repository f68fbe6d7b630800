import Foundation
import Packets

/// A capture in memory.
struct MemorySource: ByteSource {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Never) -> Int {
        let count = min(buffer.count, bytes.count - position)
        buffer.copyBytes(from: bytes[position..<position + count])
        position += count
        return count
    }
}

/// A capture in a file.
struct FileSource: ByteSource {
    let handle: FileHandle

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        let bytes = try handle.read(upToCount: buffer.count) ?? Data()
        bytes.copyBytes(to: buffer)
        return bytes.count
    }
}

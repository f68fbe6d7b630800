import Streams

/// What an index was made of.
package struct IndexHeader: Hashable, Sendable {
    /// How many bytes the capture had.
    package var size: Int
    /// When it was last modified, in nanoseconds since 1970.
    package var modified: Int64
    /// Whether it is compressed: then offsets are those of its content, and nobody can seek to them.
    package var isCompressed: Bool

    /// What an index was made of.
    package init(size: Int, modified: Int64, isCompressed: Bool) {
        (self.size, self.modified, self.isCompressed) = (size, modified, isCompressed)
    }

    /// Whether a file begins like an index.
    package static func isIndex(_ beginning: some Collection<UInt8>) -> Bool {
        beginning.starts(with: IndexFormat.magic)
    }

    /// The header of the index file.
    package var bytes: [UInt8] {
        var bytes = IndexFormat.magic
        bytes.append(first: 2, of: IndexFormat.version)
        bytes.append(first: 2, of: isCompressed ? 1 : 0)
        bytes.append(first: 8, of: UInt64(size))
        bytes.append(first: 8, of: UInt64(bitPattern: modified))
        bytes.append(first: 4, of: UInt64(IndexFormat.checksum(bytes)))
        return bytes
    }

    /// Reads the header of an index file.
    init(_ bytes: [UInt8]) throws(CaptureError) {
        guard bytes.count >= IndexFormat.magic.count, Self.isIndex(bytes) else {
            throw CaptureError(kind: .notACapture, offset: 0, expected: "an index of frametap", found: "something else")
        }
        guard bytes.count >= IndexFormat.headerLength else {
            throw CaptureError(
                kind: .truncated, offset: bytes.count, expected: "\(IndexFormat.headerLength) bytes of header",
                found: "the end of the file")
        }
        func number(_ range: Range<Int>) -> UInt64 { range.reversed().reduce(0) { $0 << 8 | UInt64(bytes[$1]) } }
        let version = number(8..<10)
        guard version == IndexFormat.version else {
            throw CaptureError(
                kind: .unknownVariant, offset: 8, expected: "version \(IndexFormat.version)",
                found: "version \(version)")
        }
        guard number(28..<32) == UInt64(IndexFormat.checksum(bytes[..<28])), number(12..<20) < 1 << 62 else {
            throw CaptureError(kind: .badLength, offset: 28, expected: "the header's checksum", found: "another one")
        }
        size = Int(number(12..<20))
        modified = Int64(bitPattern: number(20..<28))
        isCompressed = number(10..<12) & 1 == 1
    }
}

/// Room at the end of an array, filled from its beginning: several pieces at the price of one check of the array's capacity.
@usableFromInline
package struct ByteRoom {
    /// The array's memory after its last byte.
    @usableFromInline let start: UnsafeMutableRawPointer
    /// How many bytes there are.
    @usableFromInline let size: Int
    /// How many bytes of it are filled.
    @usableFromInline package private(set) var count = 0

    /// Room in other memory, for tests: `size` bytes from `start` on, which the caller owns.
    @inlinable
    @inline(__always)
    package init(_ start: UnsafeMutableRawPointer, size: Int) { (self.start, self.size) = (start, size) }

    /// How many bytes there is still room for.
    @inlinable
    @inline(__always)
    package var free: Int { size &- count }

    /// Takes back what was put after the first `count` bytes.
    @inlinable
    @inline(__always)
    package mutating func takeBack(to count: Int) {
        precondition(count >= 0 && count <= self.count, "fewer bytes are filled")
        self.count = count
    }

    /// Puts bytes after the others. There must be room for them.
    @inlinable
    @inline(__always)
    package mutating func put(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= free, "no room for these bytes")
        if let text = bytes.baseAddress { (start + count).copyMemory(from: text, byteCount: bytes.count) }
        count &+= bytes.count
    }

    /// Puts borrowed bytes after the others. There must be room for them.
    @inlinable
    @inline(__always)
    package mutating func put(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { put($0) }
    }

    /// Puts text after the others. There must be room for it.
    @inlinable
    @inline(__always)
    package mutating func put(_ text: StaticString) {
        text.withUTF8Buffer { put(UnsafeRawBufferPointer($0)) }
    }

    /// Puts a byte after the others. There must be room for it.
    @inlinable
    @inline(__always)
    package mutating func put(_ byte: UInt8) {
        precondition(free >= 1, "no room for this byte")
        start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count &+= 1
    }

    /// Puts the low bytes of a number after the others, at most 8, least significant first. There must be room for all 8.
    @inlinable
    @inline(__always)
    package mutating func put(first: Int, of word: UInt64) {
        precondition(free >= 8, "no room for these bytes")
        start.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
        count &+= Swift.min(first, 8)
    }

    /// Puts spaces after the others. There must be room for 8 more.
    @inlinable
    @inline(__always)
    package mutating func put(spaces: Int) {
        precondition(spaces >= 0 && free >= spaces &+ 8, "no room for these spaces")
        let end = count &+ spaces
        while count < end { put(first: 8, of: 0x2020_2020_2020_2020) }
        count = end
    }

    /// Uses the bytes that were put after the first `count`.
    @inlinable
    @inline(__always)
    package func withBytes<Result>(from count: Int, _ use: (RawSpan) -> Result) -> Result {
        precondition(count >= 0 && count <= self.count, "fewer bytes are filled")
        return use(UnsafeRawBufferPointer(start: start + count, count: self.count - count).bytes)
    }

    /// How many bytes `put(first:ofWide:at:)` reads and writes.
    @inlinable
    package static var wide: Int { 16 }

    /// Puts at most `wide` of the bytes from `offset` on after the others: for a short text, a call costs more than the copy. There must
    /// be room for `wide`, and as many bytes to read.
    @inlinable
    @inline(__always)
    package mutating func put(first: Int, ofWide bytes: RawSpan, at offset: Int) {
        precondition(free >= Self.wide && offset >= 0 && offset <= bytes.byteCount &- Self.wide, "no room to copy")
        let low = bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt64.self)
        let high = bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: offset &+ 8, as: UInt64.self)
        start.storeBytes(of: low, toByteOffset: count, as: UInt64.self)
        start.storeBytes(of: high, toByteOffset: count &+ 8, as: UInt64.self)
        count &+= Swift.min(first, Self.wide)
    }
}

extension [UInt8] {
    /// Appends several pieces at once.
    ///
    /// - Parameters:
    ///   - most: at least how many bytes there is room for.
    ///   - fill: puts the pieces into the room.
    @inlinable
    @inline(__always)
    package mutating func append(upTo most: Int, _ fill: (inout ByteRoom) -> Void) {
        // With capacity there is memory.
        append(addingCapacity: Swift.max(most, 1)) { output in
            output.withUnsafeMutableBufferPointer { memory, count in
                guard let start = memory.baseAddress else { return }
                var room = ByteRoom(start, size: memory.count)
                fill(&room)
                count = room.count
            }
        }
    }
}

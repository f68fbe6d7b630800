extension RawSpan {
    /// The byte at `offset`. Out of bounds traps; callers check lengths first.
    @inlinable
    @inline(__always)
    package subscript(byte offset: Int) -> UInt8 {
        unsafeLoad(fromByteOffset: checked(offset), as: UInt8.self)
    }

    @inlinable
    @inline(__always)
    func checked(_ offset: Int) -> Int {
        precondition(offset >= 0 && offset < byteCount, "byte offset out of bounds")
        return offset
    }

    /// The byte at `offset`, which the caller has checked to be in bounds.
    @inlinable
    @inline(__always)
    package subscript(unchecked offset: Int) -> UInt8 {
        unsafeLoad(fromUncheckedByteOffset: offset, as: UInt8.self)
    }

    /// A copy of the bytes.
    @inlinable
    package func copied() -> [UInt8] {
        withUnsafeBytes { Array($0) }
    }

    /// A copy of some of the bytes.
    @inlinable
    package func copied(_ range: Range<Int>) -> [UInt8] {
        extracting(range).copied()
    }

    /// Whether the bytes are the same as others.
    @inlinable
    package func elementsEqual(_ other: RawSpan) -> Bool {
        guard byteCount == other.byteCount else { return false }
        // Eight at a time: one at a time takes as long as all else that is done with a packet seen twice.
        var at = 0
        while at + 8 <= byteCount {
            guard
                unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self)
                    == other.unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self)
            else { return false }
            at += 8
        }
        while at < byteCount {
            guard self[unchecked: at] == other[unchecked: at] else { return false }
            at += 1
        }
        return true
    }
}

extension Array where Element == UInt8 {
    /// Appends borrowed bytes.
    @inlinable
    @inline(__always)
    package mutating func append(contentsOf bytes: RawSpan) {
        bytes.withUnsafeBytes { append(copying: $0) }
    }

    /// Appends bytes that are borrowed for the duration of the call: for a few bytes, the generic `append(contentsOf:)` costs
    /// more than the copy.
    @inlinable
    @inline(__always)
    package mutating func append(copying bytes: UnsafeRawBufferPointer) {
        append(addingCapacity: bytes.count) { output in
            output.withUnsafeMutableBufferPointer { room, count in
                UnsafeMutableRawBufferPointer(room).copyMemory(from: bytes)
                count = bytes.count
            }
        }
    }

    /// Appends borrowed bytes, and then the low bytes of a number, least significant first.
    @inlinable
    @inline(__always)
    package mutating func append(copying bytes: UnsafeRawBufferPointer, first: Int, of word: UInt64) {
        append(addingCapacity: bytes.count + 8) { output in
            output.withUnsafeMutableBufferPointer { room, count in
                let room = UnsafeMutableRawBufferPointer(room)
                room.copyMemory(from: bytes)
                room.storeBytes(of: word.littleEndian, toByteOffset: bytes.count, as: UInt64.self)
                count = bytes.count + Swift.min(first, 8)
            }
        }
    }

    /// Appends the first bytes of four numbers, the least significant one of each first.
    @inlinable
    @inline(__always)
    package mutating func append(first: Int, of words: (UInt64, UInt64, UInt64, UInt64)) {
        append(addingCapacity: 32) { output in
            output.withUnsafeMutableBufferPointer { room, count in
                let room = UnsafeMutableRawBufferPointer(room)
                room.storeBytes(of: words.0.littleEndian, toByteOffset: 0, as: UInt64.self)
                room.storeBytes(of: words.1.littleEndian, toByteOffset: 8, as: UInt64.self)
                room.storeBytes(of: words.2.littleEndian, toByteOffset: 16, as: UInt64.self)
                room.storeBytes(of: words.3.littleEndian, toByteOffset: 24, as: UInt64.self)
                count = Swift.min(first, 32)
            }
        }
    }

    /// Replaces bytes from an index on by as many others, for which there must be room.
    package mutating func overwrite(at index: Int, with bytes: RawSpan) {
        precondition(index >= 0 && bytes.byteCount <= count - index)
        withUnsafeMutableBytes { room in
            bytes.withUnsafeBytes { room[index..<index + $0.count].copyBytes(from: $0) }
        }
    }

    /// Appends the low bytes of a number, least significant first.
    @inlinable
    @inline(__always)
    package mutating func append(first: Int, of bytes: UInt64) {
        append(addingCapacity: 8) { output in
            output.withUnsafeMutableBufferPointer { room, count in
                UnsafeMutableRawBufferPointer(room).storeBytes(of: bytes.littleEndian, as: UInt64.self)
                count = Swift.min(first, 8)
            }
        }
    }
}

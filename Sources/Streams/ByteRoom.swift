/// Room at the end of an array, filled from its beginning: several pieces at the price of one check of the array's capacity.
@usableFromInline
package struct ByteRoom {
    /// The array's memory behind its last byte.
    @usableFromInline let room: UnsafeMutableRawBufferPointer
    /// How many bytes of it are filled.
    @usableFromInline var count = 0

    @usableFromInline
    init(_ room: UnsafeMutableRawBufferPointer) { self.room = room }

    /// Puts bytes behind the others. There must be room for them.
    @inlinable
    @inline(__always)
    package mutating func put(_ bytes: UnsafeRawBufferPointer) {
        precondition(bytes.count <= room.count &- count, "no room for these bytes")
        UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: bytes)
        count &+= bytes.count
    }

    /// Puts borrowed bytes behind the others. There must be room for them.
    @inlinable
    @inline(__always)
    package mutating func put(_ bytes: RawSpan) {
        bytes.withUnsafeBytes { put($0) }
    }

    /// Puts text behind the others. There must be room for it.
    @inlinable
    @inline(__always)
    package mutating func put(_ text: StaticString) {
        text.withUTF8Buffer { put(UnsafeRawBufferPointer($0)) }
    }

    /// Puts the low bytes of a number behind the others, at most 8, least significant first. There must be room for all 8.
    @inlinable
    @inline(__always)
    package mutating func put(first: Int, of word: UInt64) {
        precondition(room.count &- count >= 8, "no room for these bytes")
        room.storeBytes(of: word.littleEndian, toByteOffset: count, as: UInt64.self)
        count &+= Swift.min(first, 8)
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
        append(addingCapacity: most) { output in
            output.withUnsafeMutableBufferPointer { memory, count in
                var room = ByteRoom(UnsafeMutableRawBufferPointer(memory))
                fill(&room)
                count = room.count
            }
        }
    }
}

/// Numbers out of packets. Each load checks its bounds; a caller guards the length first, so that the check never fails on
/// bytes from the network.
extension RawSpan {
    /// An unsigned number of any width at `offset`, in network byte order.
    @inlinable
    @inline(__always)
    func bigEndian<Number: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: Number.Type) -> Number {
        Number(bigEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: type))
    }

    /// The 16 bits at `offset`, in network byte order.
    @inlinable
    @inline(__always)
    func u16(_ offset: Int) -> UInt16 { bigEndian(offset, as: UInt16.self) }

    /// The 32 bits at `offset`, in network byte order.
    @inlinable
    @inline(__always)
    func u32(_ offset: Int) -> UInt32 { bigEndian(offset, as: UInt32.self) }

    /// The 64 bits at `offset`, in network byte order.
    @inlinable
    @inline(__always)
    func u64(_ offset: Int) -> UInt64 { bigEndian(offset, as: UInt64.self) }

    /// The 16 bits at an offset that was checked, in network byte order.
    @inline(__always)
    func u16(unchecked offset: Int) -> UInt16 {
        UInt16(bigEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt16.self))
    }

    /// The 32 bits at an offset that was checked, in network byte order.
    @inline(__always)
    func u32(unchecked offset: Int) -> UInt32 {
        UInt32(bigEndian: unsafeLoadUnaligned(fromUncheckedByteOffset: offset, as: UInt32.self))
    }
}

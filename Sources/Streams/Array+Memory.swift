extension Array {
    /// The capacity that an array of this many elements is accounted for: the least power of two not below it. The real one depends on what the
    /// allocator happens to return, and what is evicted must not.
    package var accountedCapacity: Int {
        isEmpty ? 0 : 1 << (Int.bitWidth - (count - 1).leadingZeroBitCount)
    }
}

/// An aggregate of IEEE 802.11 (A-MSDU): several packets in one frame.
enum AggregateMSDU {
    /// A subframe: destination (6), source (6), length (2), LLC. Each begins at a multiple of 4 bytes.
    ///
    /// Source: IEEE 802.11-2020 section 9.3.2.2.
    struct Subframe {
        /// Where the captured part of its content is.
        let content: Range<Int>
        /// How many bytes of the content follow that.
        let cutOff: Int
        /// Where the next one begins.
        let next: Int

        /// Reads the header at an offset in the aggregate; nil if there is none: what is left may be a frame check sequence.
        init?(_ bytes: RawSpan, at start: Int) {
            guard bytes.byteCount - start >= 14 else { return nil }
            let length = Int(bytes.u16(start + 12))
            guard length > 0 else { return nil }
            let end = start + 14 + length
            content = start + 14..<min(end, bytes.byteCount)
            cutOff = end - content.upperBound
            next = (end + 3) & ~3
        }
    }
}

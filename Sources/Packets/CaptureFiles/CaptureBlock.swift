/// Something in a capture file other than a packet, on which reading or decoding its packets depends.
package struct CaptureBlock: Hashable, Sendable {
    /// What it is.
    package enum Kind: Hashable, Sendable {
        /// The header of a pcap file.
        case header
        /// A section header block (pcapng).
        case section
        /// An interface description block (pcapng).
        case interface
        /// An interface statistics block (pcapng).
        case statistics
        /// A decryption secrets block (pcapng).
        case secrets
        /// A name resolution block (pcapng).
        case names
    }

    /// What it is.
    package var kind: Kind
    /// Where it is: bytes from the start of the file, or of a compressed file's content.
    package var place: Range<Int>
    /// Whether its numbers are big-endian.
    package var isBigEndian: Bool

    /// A block.
    package init(kind: Kind, place: Range<Int>, isBigEndian: Bool) {
        (self.kind, self.place, self.isBigEndian) = (kind, place, isBigEndian)
    }
}

/// Options of pcapng blocks: code, length, value padded to 32 bits.
///
/// Source: draft-ietf-opsawg-pcapng, section 3.5.
enum PcapngOption {
    /// `opt_endofopt`
    static let end: UInt16 = 0
    /// The secrets of a decryption secrets block are an NSS key log: `TLSK`.
    static let tlsKeyLog: UInt32 = 0x544c_534b
    /// `opt_comment`
    static let comment: UInt16 = 1
    /// `if_name` of an interface description.
    static let name: UInt16 = 2
    /// `if_tsresol` of an interface description.
    static let timeResolution: UInt16 = 9
    /// `if_tsoffset` of an interface description.
    static let timeOffset: UInt16 = 14
    /// `isb_endtime` of interface statistics.
    static let endTime: UInt16 = 3

    /// `isb_ifdrop` of interface statistics.
    static let interfaceDrops: UInt16 = 5
    /// `isb_osdrop` of interface statistics.
    static let systemDrops: UInt16 = 7
    /// `epb_dropcount` of an enhanced packet.
    static let dropCount: UInt16 = 4

    /// Calls `body` with each option. Leftover bytes at the end are ignored, as are values that claim to be longer than the rest.
    static func each(in options: RawSpan, bigEndian: Bool, _ body: (_ code: UInt16, _ value: RawSpan) -> Void) {
        var at = 0
        while options.byteCount - at >= 4 {
            let code = number(options.u16(at), bigEndian)
            let length = Int(number(options.u16(at + 2), bigEndian))
            guard code != end, options.byteCount - at - 4 >= length else { return }
            body(code, options.extracting(at + 4..<at + 4 + length))
            at += 4 + (length + 3) & ~3
        }
    }

    /// Converts a number loaded in network byte order to the order it was written in.
    @inline(__always)
    static func number<Number: FixedWidthInteger>(_ loaded: Number, _ bigEndian: Bool) -> Number {
        bigEndian ? loaded : loaded.byteSwapped
    }
}

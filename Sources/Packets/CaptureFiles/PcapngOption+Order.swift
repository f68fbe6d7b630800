import Streams

extension PcapngOption {
    /// Which kind of block has the options: the same code means different things in different blocks.
    enum Owner {
        case interface, packet
    }

    /// Appends options with their numbers in little-endian order, without the option that ends them.
    static func appendLittleEndian(
        _ options: RawSpan, bigEndian: Bool, of owner: Owner, to bytes: inout [UInt8]
    ) {
        each(in: options, bigEndian: bigEndian) { code, value in
            bytes.append(first: 2, of: UInt64(code))
            bytes.append(first: 2, of: UInt64(value.byteCount))
            var swapped = 0
            if bigEndian {
                let (size, most) = numbers(code, of: owner)
                swapped = min(value.byteCount, most) / size * size
                for offset in stride(from: 0, to: swapped, by: size) {
                    for place in (0..<size).reversed() { bytes.append(value[byte: offset + place]) }
                }
            }
            bytes.append(contentsOf: value.extracting(swapped..<value.byteCount))
            bytes.append(contentsOf: repeatElement(0, count: -value.byteCount & 3))
        }
    }

    /// The size of the numbers at the start of an option's value, and how many bytes they take; the rest has no byte order.
    private static func numbers(_ code: UInt16, of owner: Owner) -> (size: Int, bytes: Int) {
        switch (owner, code) {
        case (_, 2_988), (_, 2_989), (_, 19_372), (_, 19_373): (4, 4)  // custom options: an enterprise number
        case (.interface, 8), (.interface, 14), (.interface, 16), (.interface, 17): (8, 8)  // speeds, if_tsoffset
        case (.packet, 2), (.packet, 6): (4, 4)  // epb_flags, epb_queue
        case (.packet, 4), (.packet, 5): (8, 8)  // epb_dropcount, epb_packetid
        case (.packet, 8): (4, 8)  // epb_processid_threadid
        default: (1, 0)
        }
    }
}

import Streams

/// Integers by what each adds to the one before: times, offsets and numbers grow by little, and then take a few bits each.
///
/// Source: the Parquet format's `Encodings.md`, "Delta Encoding (DELTA_BINARY_PACKED)".
enum DeltaEncoding {
    /// How many differences share their least one.
    private static let block = 128
    /// How many of them share their number of bits.
    private static let miniblock = 32

    /// Appends the values to a page.
    static func append(_ values: [Int64], to page: inout [UInt8]) {
        page.append(varint: UInt64(block))
        page.append(varint: UInt64(block / miniblock))
        page.append(varint: UInt64(values.count))
        page.append(signed: values.first ?? 0)
        var differences = [Int64](repeating: 0, count: block)
        var start = 1
        while start < values.count {
            let count = min(block, values.count - start)
            var least = Int64.max
            for index in 0..<count {
                // Wraps around on overflow, as readers do when they add it again.
                differences[index] = values[start + index] &- values[start + index - 1]
                least = min(least, differences[index])
            }
            // The rest of the last block takes no bits.
            for index in count..<block { differences[index] = least }
            append(differences, least, to: &page)
            start += count
        }
    }

    private static func append(_ differences: [Int64], _ least: Int64, to page: inout [UInt8]) {
        page.append(signed: least)
        let widths = stride(from: 0, to: block, by: miniblock)
        for start in widths { page.append(UInt8(width(differences, start, least))) }
        for start in widths {
            let width = width(differences, start, least)
            if width > 0 { pack(differences, start, least, width, to: &page) }
        }
    }

    /// How many bits a miniblock's values need.
    private static func width(_ differences: [Int64], _ start: Int, _ least: Int64) -> Int {
        var all: UInt64 = 0
        for index in start..<start + miniblock { all |= UInt64(bitPattern: differences[index] &- least) }
        return UInt64.bitWidth - all.leadingZeroBitCount
    }

    private static func pack(
        _ differences: [Int64], _ start: Int, _ least: Int64, _ width: Int, to page: inout [UInt8]
    ) {
        var word: UInt64 = 0
        var filled = 0
        for index in start..<start + miniblock {
            let value = UInt64(bitPattern: differences[index] &- least)
            word |= value << UInt64(filled)
            filled += width
            if filled >= UInt64.bitWidth {
                page.append(first: 8, of: word)
                filled -= UInt64.bitWidth
                word = value >> UInt64(width - filled)  // 0 if all of it is written
            }
        }
        // 32 values of an odd number of bits end in the middle of a word.
        page.append(first: filled / 8, of: word)
    }
}

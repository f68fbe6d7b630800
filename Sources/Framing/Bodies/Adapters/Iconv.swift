import Platform
import Streams

/// The C library's conversion of character sets. Nothing else calls it.
enum Iconv {
    /// The text in another character set; nil if it is not valid in the first, or the system does not support one of them.
    static func convert(_ text: RawSpan, from source: String, to target: String) -> [UInt8]? {
        // It returns -1 on failure, as a pointer.
        guard let descriptor = iconv_open(target, source), Int(bitPattern: descriptor) != -1 else { return nil }
        defer { iconv_close(descriptor) }
        // Neither direction between UTF-8 and GB 18030 produces more than four bytes for one.
        var output = [UInt8](repeating: 0, count: 4 * text.byteCount + 16)
        let count = output.withUnsafeMutableBytes { output -> Int? in
            text.withUnsafeBytes { input -> Int? in
                // It does not write to its input, although that is declared without const.
                var from = UnsafeMutableRawPointer(mutating: input.baseAddress)?.assumingMemoryBound(to: CChar.self)
                var fromLeft = input.count
                var to = output.baseAddress?.assumingMemoryBound(to: CChar.self)
                var toLeft = output.count
                guard iconv(descriptor, &from, &fromLeft, &to, &toLeft) != .max, fromLeft == 0
                else { return nil }
                return output.count - toLeft
            }
        }
        return count.map { Array(output.prefix($0)) }
    }
}

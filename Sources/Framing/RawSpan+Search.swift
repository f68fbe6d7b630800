import Platform
import Streams

extension RawSpan {
    /// The index of the first `byte` at or after `start`.
    @inlinable
    func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        guard start < byteCount else { return nil }
        return withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress,
                let found = memchr(base + start, Int32(byte), buffer.count - start)
            else { return nil }
            return UnsafeRawPointer(found) - base
        }
    }

    /// The index of the first occurrence of `pattern`, which is not empty, at or after `start`.
    package func firstRange(of pattern: [UInt8], from start: Int) -> Int? {
        guard var at = firstIndex(of: pattern[0], from: start) else { return nil }
        while at + pattern.count <= byteCount {
            if pattern.indices.dropFirst().allSatisfy({ self[byte: at + $0] == pattern[$0] }) { return at }
            guard let next = firstIndex(of: pattern[0], from: at + 1) else { return nil }
            at = next
        }
        return nil
    }
}

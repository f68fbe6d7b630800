/// Reads numbers and vectors (RFC 8446 section 3) from the bytes of one handshake message; nil where they end too early.
struct ByteReader {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) {
        rest = bytes
    }

    var isAtEnd: Bool { rest.isEmpty }

    /// A number of `width` bytes, at most seven.
    mutating func number(_ width: Int) -> Int? {
        guard rest.count >= width else { return nil }
        defer { rest = rest.dropFirst(width) }
        return rest.prefix(width).reduce(0) { $0 << 8 | Int($1) }
    }

    mutating func u8() -> UInt8? { number(1).map(UInt8.init) }

    mutating func u16() -> UInt16? { number(2).map(UInt16.init) }

    mutating func bytes(_ count: Int) -> ArraySlice<UInt8>? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }

    /// A vector of bytes after its length of `width` bytes.
    mutating func vector(_ width: Int) -> ArraySlice<UInt8>? {
        guard let count = number(width) else { return nil }
        return bytes(count)
    }

    /// A vector of 16-bit numbers after its length of `width` bytes.
    mutating func numbers(_ width: Int) -> [UInt16]? {
        guard let bytes = vector(width), bytes.count.isMultiple(of: 2) else { return nil }
        var reader = ByteReader(bytes)
        var numbers: [UInt16] = []
        while let number = reader.u16() { numbers.append(number) }
        return numbers
    }
}

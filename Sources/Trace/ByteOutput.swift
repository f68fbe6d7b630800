import Streams

/// Where a sink's bytes go: a file, a terminal, a test's array.
public protocol ByteOutput: AnyObject {
    /// Takes bytes, in order. The output itself reports errors.
    func write(_ bytes: [UInt8])

    /// How many lines, or packets, it has discarded so far because it could not be written; 0 if it does not count them.
    var discarded: Int { get }
}

extension ByteOutput {
    /// Most do not count.
    public var discarded: Int { 0 }
}

/// An output that keeps its bytes in memory.
public final class MemoryOutput: ByteOutput {
    /// What was written.
    public private(set) var bytes: [UInt8] = []

    /// An empty output.
    public init() {}

    /// Keeps the bytes.
    public func write(_ bytes: [UInt8]) {
        self.bytes += bytes
    }

    /// What was written, as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Collects bytes into large writes.
struct BufferedOutput {
    private let output: any ByteOutput
    private let limit: Int
    var bytes: [UInt8] = []

    init(_ output: any ByteOutput, limit: Int = 64 << 10) {
        self.output = output
        self.limit = limit
    }

    /// How many lines were passed on, but discarded.
    var discarded: Int { output.discarded }

    /// Ends a line, and passes the bytes on if there are many.
    mutating func endLine() {
        bytes.append(UInt8(ascii: "\n"))
        flushIfFull()
    }

    /// The same, with a last byte before the line's end.
    mutating func endLine(with last: UInt8) {
        bytes.append(first: 2, of: UInt64(last) | UInt64(UInt8(ascii: "\n")) << 8)
        flushIfFull()
    }

    /// After a line: passes the bytes on if there are many.
    @inline(__always)
    mutating func flushIfFull() {
        if bytes.count >= limit { flush() }
    }

    /// Passes the bytes on.
    mutating func flush() {
        guard !bytes.isEmpty else { return }
        output.write(bytes)
        bytes.empty(keeping: 4 * limit)
    }
}

extension [UInt8] {
    /// Removes all bytes, and keeps their memory for reuse if it is at most `limit` bytes.
    ///
    /// Without a limit, a buffer that is repeatedly filled and emptied may grow each time: emptying one that is not uniquely
    /// referenced allocates another one, with the capacity rounded up.
    package mutating func empty(keeping limit: Int) {
        if capacity <= limit { removeAll(keepingCapacity: true) } else { self = [] }
    }
}

/// A source of any type: code that is generic over it would look up types at run time.
struct AnySource: ByteSource {
    private let next: (UnsafeMutableRawBufferPointer) throws -> Int

    init(_ source: some ByteSource) {
        var source = source
        next = { try source.read(into: $0) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(any Error) -> Int { try next(buffer) }
}

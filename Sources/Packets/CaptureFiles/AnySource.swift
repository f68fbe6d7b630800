/// Hides a source's type: code that is generic over the type would look it up at run time, for each packet if captures alternate.
struct AnySource: ByteSource {
    private let next: (UnsafeMutableRawBufferPointer) throws -> Int

    init(_ source: some ByteSource) {
        var source = source
        next = { try source.read(into: $0) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(any Error) -> Int { try next(buffer) }
}

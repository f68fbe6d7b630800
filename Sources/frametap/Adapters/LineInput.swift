import Streams

/// The lines of a file or pipe, as they become available.
struct LineInput {
    private let input: FileInput

    /// A frame of 16 MiB in hex, and the text around it.
    private static let longest = 40 << 20

    init(_ input: FileInput) {
        self.input = input
    }

    /// Delivers each line without its terminator; empty ones as well, so that lines can be counted.
    func forEach(_ use: (RawSpan) throws -> Void) throws {
        var held: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = try chunk.withUnsafeMutableBytes { try input.read(into: $0) }
            if count == 0 { break }
            let pieces = chunk[..<count].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            for (index, piece) in pieces.enumerated() {
                if index > 0 {
                    try use(held.span.bytes)
                    held = []
                }
                held += piece
                if held.count > Self.longest {
                    throw CommandError("\(input.name): a line has more than \(Self.longest) bytes")
                }
            }
        }
        if !held.isEmpty { try use(held.span.bytes) }
    }
}

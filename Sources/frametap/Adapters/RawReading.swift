import Streams

/// Reads bare byte streams, one side of a connection each, into a stream receiver: the endpoints are invented, the time is 0.
struct RawReading {
    private let direction: Direction
    private let serverPort: UInt16
    /// Whether a file could not be read to its end.
    private(set) var hasFailed = false

    /// The size of the proxy's reads.
    private static let longestChunk = 65_495
    private static let time = Timestamp(nanoseconds: 0)

    init(from direction: Direction, serverPort: UInt16) {
        self.direction = direction
        self.serverPort = serverPort
    }

    /// Reads the files, each as a connection of its own.
    ///
    /// - Parameters:
    ///   - whenFound: called before bytes are passed on.
    ///   - whenRead: called after bytes of a followed file were.
    mutating func read(
        _ paths: [String], to receiver: any StreamReceiver, progress: ReadingProgress, whenFound: () -> Void,
        whenRead: () -> Void
    ) {
        for (index, path) in paths.enumerated() where !progress.isOver {
            // 192.0.2.0/24 is reserved for documentation (RFC 5737).
            let opening = Opening(
                number: index + 1, time: Self.time, client: Endpoint(IPAddress(v4: 0xc000_0201), 49_152),
                server: Endpoint(IPAddress(v4: 0xc000_0202), serverPort))
            let connection = receiver.open(opening)
            do {
                let input = try FileInput(path, progress)
                defer { input.closeFile() }
                var chunk = [UInt8](repeating: 0, count: Self.longestChunk)
                while !progress.isOver {
                    let count = try chunk.withUnsafeMutableBytes { try input.read(into: $0) }
                    if count == 0 { break }
                    whenFound()
                    let bytes = chunk.span.bytes.extracting(0..<count)
                    connection.received(bytes, from: direction, at: Self.time, packet: 0)
                    if input.isFollowed { whenRead() }
                }
                connection.finished(.fin, from: direction, at: Self.time)
            } catch {
                hasFailed = true
                warn("\(error)")
            }
            connection.closed(Closing(reason: .endOfInput, by: nil, time: Self.time))
        }
    }
}

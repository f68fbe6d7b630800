import Framing
import Pipeline
import Streams
import TestSupport
import Trace

/// A conversation as stream events, and a decoder's results for it.
struct Conversation {
    /// Bytes of one direction that arrived together.
    struct Piece {
        var direction: Direction
        var bytes: [UInt8]
    }

    var pieces: [Piece] = []
    var handshake = true
    var serverPort: UInt16 = 9_000
    var closing = CloseReason.fin

    /// Random pieces of two streams of messages.
    init(chat: ChatBytes, size: Int = 2_000, using generator: inout SeededGenerator) throws {
        var rest = try PerDirection(
            fromClient: chat.stream(of: size, longest: 600, using: &generator)[...],
            fromServer: chat.stream(of: size, longest: 600, from: .fromServer, using: &generator)[...])
        while !rest.fromClient.isEmpty || !rest.fromServer.isEmpty {
            let direction: Direction = Bool.random(using: &generator) ? .fromClient : .fromServer
            let count = Int.random(in: 1...400, using: &generator)
            if !rest[direction].isEmpty {
                pieces.append(Piece(direction: direction, bytes: Array(rest[direction].prefix(count))))
            }
            rest[direction] = rest[direction].dropFirst(count)
        }
    }

    /// One piece.
    init(_ bytes: [UInt8], from direction: Direction = .fromClient) {
        pieces = [Piece(direction: direction, bytes: bytes)]
    }

    /// The same bytes in the same order, segmented anew: each piece is split at random, and neighbours of one direction are
    /// joined now and then.
    func cut(using generator: inout SeededGenerator) -> Conversation {
        var other = self
        other.pieces = []
        for piece in pieces {
            var rest = piece.bytes[...]
            while !rest.isEmpty {
                let count = Int.random(
                    in: 1...max(1, [1, 10, 500].randomElement(using: &generator) ?? 1), using: &generator)
                let part = Array(rest.prefix(count))
                rest = rest.dropFirst(count)
                if let last = other.pieces.indices.last, other.pieces[last].direction == piece.direction,
                    Bool.random(using: &generator)
                {
                    other.pieces[last].bytes += part
                } else {
                    other.pieces.append(Piece(direction: piece.direction, bytes: part))
                }
            }
        }
        return other
    }

    /// Every byte a piece of its own.
    var byteByByte: Conversation {
        var other = self
        other.pieces = pieces.flatMap { piece in piece.bytes.map { Piece(direction: piece.direction, bytes: [$0]) } }
        return other
    }

    /// Decodes it; each piece arrives a microsecond after the previous one.
    func decode(_ options: DecodingOptions) throws -> (lines: [TraceLine], summary: Summary) {
        let output = MemoryOutput()
        let decoder = Decoder(options, sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        play(to: decoder)
        return (try traceLines(output.text), decoder.summary)
    }

    /// Feeds it to a decoder; each piece arrives a microsecond after the previous one.
    func play(to decoder: Decoder) {
        var time = Timestamp(seconds: 1_795_248_000, nanoseconds: 0)
        let loopback = IPAddress(v4: 0x7f00_0001)
        let connection = decoder.open(
            Opening(
                number: 1, time: time, client: Endpoint(loopback, 40_000), server: Endpoint(loopback, serverPort),
                handshake: handshake))
        for (index, piece) in pieces.enumerated() {
            time = time + Interval(nanoseconds: 1_000)
            decoder.advance(to: time)
            connection.received(piece.bytes.span.bytes, from: piece.direction, at: time, packet: index + 1)
        }
        if closing == .fin {
            for direction in Direction.allCases { connection.finished(.fin, from: direction, at: time) }
        }
        connection.closed(Closing(reason: closing, by: nil, time: time))
        decoder.finish()
    }

    /// How many bytes a direction has.
    func count(_ direction: Direction) -> Int {
        pieces.reduce(0) { $0 + ($1.direction == direction ? $1.bytes.count : 0) }
    }
}

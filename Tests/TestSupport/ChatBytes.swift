import Framing
import Streams

/// Bytes of im-json conversations.
package struct ChatBytes: Sendable {
    /// The format.
    package let format: Format

    /// The built-in format, optionally with another heartbeat contract.
    package init(heartbeatEvery every: Interval? = nil, gap: Interval? = nil) throws {
        guard var format = try BuiltInFormats.format(named: "im-json") else { throw MissingFormat() }
        if let every { format.heartbeat?.every = every }
        if let gap { format.heartbeat?.gap = gap }
        self.format = format
    }

    /// There is no im-json.
    package struct MissingFormat: Error {}

    /// The wire form of a message.
    package func message(_ type: String, _ body: [UInt8], from direction: Direction = .fromClient) throws -> [UInt8] {
        let from = direction == .fromClient ? "CinentID" : "sourceClient"
        let fields = [Field("type", .text(type)), Field(from, .text("CinentA")), Field("targetID", .text("CinentB"))]
        return try format.directions[direction].encode(fields, body: body)
    }

    /// The wire form of a heartbeat.
    package func heartbeat() throws -> [UInt8] {
        try message("heartA", Array("A心跳".utf8))
    }

    /// A stream of messages, occasionally with garbage in between, and possibly with an unfinished one at its end.
    ///
    /// - Parameters:
    ///   - size: the approximate number of bytes.
    ///   - longest: the maximum length of a body.
    package func stream(
        of size: Int, longest: Int = 2_000, from direction: Direction = .fromClient, garbage: Bool = true,
        using generator: inout SeededGenerator
    ) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < size {
            switch Int.random(in: 0..<12, using: &generator) {
            case 0 where garbage: bytes += generator.bytes(Int.random(in: 1...90, using: &generator))
            case 1 where garbage: bytes += Array("{\"size\":\"-1\"}\r\n".utf8)
            case 2 where garbage: bytes += Array("{\"size\":\"99999999999999999999\"}\r\n".utf8)
            case 3, 4: bytes += try heartbeat()
            case 5: bytes += try message("txt", [], from: direction)
            case 6:
                let length = Int.random(in: 0...longest, using: &generator)
                bytes += try message("img", [0xff, 0xd8, 0xff, 0xe0] + generator.bytes(length), from: direction)
            default:
                let text = String(repeating: "心 跳\u{1b}[2J\r\n{", count: Int.random(in: 0...8, using: &generator))
                bytes += try message("txt", Array(text.utf8), from: direction)
            }
        }
        if Bool.random(using: &generator) {
            let last = try message("txt", Array("the last one".utf8), from: direction)
            bytes += last.prefix(Int.random(in: 0..<last.count, using: &generator))
        }
        return bytes
    }
}

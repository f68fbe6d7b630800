import Framing
import Streams
import Trace

@testable import Page

/// Lines of traces that no capture has.
enum MadeUp {
    static let start = #"{"event":"trace","version":2,"source":"tests","tool":"tests"}"#

    static func time(_ nanoseconds: Int64) -> String { "\"\(Timestamp(nanoseconds: nanoseconds).rfc3339)\"" }

    static func opened(_ connection: Int, at nanoseconds: Int64 = 0, client: String = "10.0.0.1:1") -> String {
        "{\"event\":\"opened\",\"connection\":\(connection),\"time\":\(time(nanoseconds)),\"transport\":\"tcp\","
            + "\"client\":\"\(client)\",\"server\":\"10.0.0.2:2\",\"handshake\":true,\"clientGuessed\":false}"
    }

    static func format(_ connection: Int, _ name: String) -> String {
        "{\"event\":\"format\",\"connection\":\(connection),\"format\":\"\(name)\",\"by\":\"content\",\"evidence\":\"\"}"
    }

    static func frame(
        _ connection: Int, at nanoseconds: Int64 = 0, from: String = "client", index: Int = 0, type: String = "a",
        body: String = "{\"length\":1}", fields: String = "{}"
    ) -> String {
        "{\"event\":\"frame\",\"connection\":\(connection),\"from\":\"\(from)\",\"index\":\(index),"
            + "\"time\":\(time(nanoseconds)),\"started\":\(time(nanoseconds)),\"offset\":0,\"length\":1,\"segments\":1,"
            + "\"merged\":false,\"type\":\"\(type)\",\"heartbeat\":false,\"fields\":\(fields),\"body\":\(body)}"
    }

    static func missing(_ connection: Int, at nanoseconds: Int64 = 0, length: Int = 1) -> String {
        "{\"event\":\"missing\",\"connection\":\(connection),\"from\":\"client\",\"time\":\(time(nanoseconds)),"
            + "\"offset\":0,\"length\":\(length)}"
    }

    static func finding(
        _ connection: Int, at nanoseconds: Int64 = 0, kind: String, severity: String = "warning", message: String = "",
        data: String = "{}"
    ) -> String {
        "{\"event\":\"finding\",\"connection\":\(connection),\"from\":\"client\",\"time\":\(time(nanoseconds)),"
            + "\"kind\":\"\(kind)\",\"severity\":\"\(severity)\",\"message\":\"\(message)\",\"data\":\(data)}"
    }

    static func closed(_ connection: Int, at nanoseconds: Int64) -> String {
        "{\"event\":\"closed\",\"connection\":\(connection),\"time\":\(time(nanoseconds)),\"reason\":\"fin\",\"by\":null}"
    }

    /// A trace of these lines on a page.
    static func trace(_ lines: [String]) async throws -> ShownTrace {
        try await ShownTrace(lines: ([start] + lines).joined(separator: "\n") + "\n")
    }

    /// Items of a queue.
    static func items(_ lines: [String]) throws -> [PageItem] {
        try lines.compactMap { line in
            try EventReader.event(of: Array(line.utf8)).map { PageItem(.event($0)) }
        }
    }
}

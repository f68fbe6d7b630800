import Foundation
import TestSupport
import Testing

/// A capture of a client and a server that compress everything after their greeting, in one zlib stream each.
@Suite struct EncodedStreamTests {
    private static let capture = "\(Example.root)/fixtures/encoded/zlib.pcap"
    private static let format = "\(Example.root)/fixtures/encoded/zlib.yaml"

    private func decode(_ options: String...) throws -> String {
        let result = try Program.run("frametap", ["decode", Self.capture, "--format", Self.format] + options)
        #expect(result.status == 0, "\(result.errors)")
        return result.text
    }

    /// Three conversations of 60 messages, each with its answer, after three lines and a greeting.
    @Test func everyMessageIsFramed() throws {
        let lines = try decode("--as", "ndjson").split(separator: "\n")
        func count(_ text: String) -> Int { lines.count { $0.contains(text) } }
        #expect(count(#""type":"chat","heartbeat""#) == 180 && count(#""type":"ack","heartbeat""#) == 183)
        #expect(count(#""type":"HELLO""#) == 3 && count(#""type":"WELCOME""#) == 3)
        #expect(count(#""event":"unframed""#) == 0)
        // Answers are paired by a value of bodies that only one state has.
        #expect(count(#""kind":"unanswered""#) == 0 && count(#""kind":"answer-without-request""#) == 3)
    }

    /// Each message is answered with its text backwards.
    @Test func bodiesAreDecompressed() throws {
        let texts = try decode("--filter", "type == \"chat\" or type == \"ack\" and body.json.n >= 0", "--as", "ndjson")
            .split(separator: "\n").compactMap { line -> (String, String)? in
                let event = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
                let json = (event?["body"] as? [String: Any])?["json"] as? [String: Any]
                guard let type = event?["type"] as? String, let text = json?["text"] as? String else { return nil }
                return (type, text)
            }
        let sent = texts.filter { $0.0 == "chat" }.map { String($0.1.reversed()) }
        let received = texts.filter { $0.0 == "ack" }.map(\.1)
        #expect(sent.count == 180 && sent == received)
    }
}

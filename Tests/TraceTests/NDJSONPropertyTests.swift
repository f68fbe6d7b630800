import Foundation
import Streams
import Testing

@testable import Framing
@testable import Trace

/// Every line is JSON, and contains the values that were written.
@Suite struct NDJSONPropertyTests {
    @Test func everyLineIsJSON() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let type = randomText(&generator)
            let name = "x" + randomText(&generator)
            let text = randomText(&generator)
            let bytes = (0..<30).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let output = try ndjson(bodyLimit: .random(in: 0...64, using: &generator)) { script, writer in
                script.open()
                let fields = script.clientHead(type, text, "") + [Field(name, .text(text))]
                try script.frame(at: start, fields, body: Array(text.utf8))
                try script.frame(at: start, fields, body: bytes)
                script.gap(at: 0, message: text)
                let run = UnframedRun(offset: 0, bytes: bytes, time: start, reason: .badHead, detail: text)
                writer.unframed(run, from: .fromServer, on: try #require(script.connections[1]))
                script.close(at: 0, detail: text)
                writer.summary(Summary())
            }
            // Only LF ends a line.
            let lines = output.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            #expect(lines.count == 10 && lines.last?.isEmpty == true, "seed \(seed)")
            let values = try lines.dropLast().map {
                try #require(try JSONSerialization.jsonObject(with: Data($0)) as? [String: Any], "seed \(seed)")
            }
            let frame = values[3]
            #expect(frame["type"] as? String == type, "seed \(seed)")
            #expect((frame["fields"] as? [String: Any])?[name] as? String == text, "seed \(seed)")
            #expect((frame["body"] as? [String: Any])?["length"] as? Int == text.utf8.count, "seed \(seed)")
            #expect(values[5]["message"] as? String == text, "seed \(seed)")
            let isControl = { (scalar: Unicode.Scalar) in scalar.properties.generalCategory == .control }
            #expect(output.unicodeScalars.allSatisfy { $0 == "\n" || !isControl($0) }, "seed \(seed)")
        }
    }

    private func randomText(_ generator: inout SeededGenerator) -> String {
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0...24, using: &generator) {
            let limit: UInt32 = Bool.random(using: &generator) ? 0x10ffff : 0xff
            let scalar = Unicode.Scalar(UInt32.random(in: 1...limit, using: &generator)) ?? "\u{2029}"
            // Foundation's reader ends strings at NUL and drops byte order marks: both are omitted.
            if scalar != "\u{feff}" { text.append(scalar) }
        }
        return String(text)
    }
}

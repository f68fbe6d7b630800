import Foundation
import Testing

/// `--extract`: bodies as files, also those that are too large to be held.
@Suite struct ExtractedBodyTests {
    private let small = Array("hello".utf8)
    private let large = Array(String(repeating: "grüße, ", count: 300_000).utf8)

    private func frame(_ body: [UInt8]) -> [UInt8] {
        let total = UInt32(8 + body.count)
        return (0..<4).map { UInt8(truncatingIfNeeded: total >> (8 * $0)) } + [2, 0, 0, 0] + body
    }

    private func extract(_ bytes: [UInt8], _ more: String...) throws -> (files: [String: [UInt8]], trace: String) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("extract-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let arguments =
            ["decode", "--raw", "--format", "tlv32", "--as", "ndjson", "--extract", folder.path, "-"] + more
        let result = try Program.run("frametap", arguments, input: bytes)
        #expect(result.status == 0, "\(result.errors)")
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            files[name] = Array(try Data(contentsOf: folder.appendingPathComponent(name)))
        }
        return (files, result.text)
    }

    @Test func eachBodyIsAFile() throws {
        let (files, trace) = try extract(frame(small) + frame(large) + frame(small))
        #expect(files == ["1-client-000000.bin": small, "1-client-000001.bin": large, "1-client-000002.bin": small])
        #expect(trace.contains(#""body":{"length":\#(large.count),"text":"grüße, "#))
        #expect(trace.contains(#","truncated":true}"#))
    }

    @Test func aBodyThatDoesNotBecomeCompleteLeavesNoFile() throws {
        let (files, trace) = try extract(frame(small) + frame(large).dropLast(1))
        #expect(files == ["1-client-000000.bin": small])
        #expect(trace.contains("\(large.count - 1) of \(large.count) body bytes when the stream ended"))
    }

    /// 1,024 bytes are the largest file here; a full disk would be the same error.
    @Test func bodiesThatCannotBeWrittenAreAnError() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("extract-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let frametap = try Program.find("frametap").path
        let result = try Program.run(
            "bash",
            [
                "-c", #"trap '' XFSZ; ulimit -f 1; exec "$0" "$@""#, frametap, "decode", "--raw", "--format", "tlv32",
                "--as", "none", "--extract", folder.path, "-",
            ], input: frame(small) + frame(large))
        #expect(result.status == 2)
        #expect(result.errors.contains("File too large; no more bodies are written"), "\(result.errors)")
    }

    @Test func aConnectionThatBareBytesDoNotHaveIsSaid() throws {
        let result = try Program.run(
            "frametap", ["decode", "--raw", "--format", "tlv32", "--as", "none", "--connection", "2", "-"],
            input: frame(small))
        #expect(result.status == 0)
        #expect(result.errors.contains("there is no connection 2: 1 connection in all"), "\(result.errors)")
    }

    @Test func aBodyThatIsNotSelectedLeavesNoFile() throws {
        let (files, _) = try extract(frame(small) + frame(large) + frame(small), "--filter", "length < 100")
        #expect(files == ["1-client-000000.bin": small, "1-client-000002.bin": small])
    }
}

import Foundation
import TestSupport
import Testing

/// `frametap formats check`: trying a format file on captures.
@Suite struct CheckCommandTests {
    private static let capture = Example(name: "modbus").capturePath

    private func check(_ arguments: [String]) throws -> (status: Int32, text: String, errors: String) {
        let result = try Program.run("frametap", ["formats", "check"] + arguments)
        return (result.status, result.text, result.errors)
    }

    @Test func aFormatThatFitsFramesEverything() throws {
        let example = Example(name: "modbus")
        let found = try check([example.formatPath, "--on", example.capturePath])
        #expect(found.status == 0)
        #expect(found.text.contains("modbus is well-formed\n"))
        #expect(found.text.contains("100.0 % of 2,501 bytes framed, 82 frames on 1 of 1 connection\n"), "\(found.text)")
        #expect(found.text.contains("types: ") && found.text.contains("ReadHoldingRegisters 12"), "\(found.text)")
        #expect(!found.text.contains("fails"))
    }

    /// The first place that is not framed, with what was expected there, and its bytes.
    @Test func whereItFailsFirstIsShown() throws {
        let text = try String(contentsOfFile: Example(name: "modbus").formatPath, encoding: .utf8)
        let short = try TemporaryFile(
            Array(text.replacingOccurrences(of: "limit: 260", with: "limit: 60").utf8), name: "short.yaml")
        let found = try check([short.path, "--on", Self.capture, Example(name: "dns").capturePath])
        #expect(found.status == 0)
        let lines = found.text.split(separator: "\n")
        let place = try #require(lines.firstIndex { $0.contains("fails first on connection 1 ") })
        #expect(lines[place].hasSuffix("server, offset 21, after frame 1 (ReadDiscreteInputs, 10 bytes at 11):"))
        #expect(lines[place + 1].contains("too-long: length (head at offset 21) is 203, the limit of a frame is 60"))
        #expect(lines[place + 2].contains("00000015  00 03 00 00 00 cb 01 03"))
        #expect(lines.contains { $0.hasPrefix("  unframed bytes: too-long ") })
        // Nothing of another protocol is framed.
        #expect(found.text.contains("0.0 % of 13,391 bytes framed, 0 frames on 0 of 6 connections"), "\(found.text)")
        #expect(found.text.contains("at the beginning of what is framed"))
    }

    @Test func whatCannotBeReadIsReported() throws {
        let missing = try check([Example(name: "modbus").formatPath, "--on", "/nowhere.pcap"])
        #expect(missing.errors.contains("cannot open /nowhere.pcap"), "\(missing.errors)")
        #expect(missing.status == 2 && missing.text.contains("modbus is well-formed"))
        #expect(!missing.text.contains("there are no bytes"), "\(missing.text)")
        let file = try TemporaryFile(Array("format: x\nframin: 1\n".utf8), name: "x.yaml")
        let wrong = try check([file.path, "--on", Self.capture])
        #expect(wrong.status != 0 && wrong.errors.contains("x.yaml:2:1: unknown key framin"), "\(wrong.errors)")
    }

    @Test func itIsCheckedAgainWhenItIsSaved() throws {
        let text = try String(contentsOfFile: Example(name: "modbus").formatPath, encoding: .utf8)
        let file = try TemporaryFile(
            Array(text.replacingOccurrences(of: "limit: 260", with: "limit: 60").utf8), name: "m.yaml")
        // What is printed is read here before the file is saved again.
        let script = """
            "$0" formats check "$1" --watch --on "$2" >"$1.out" 2>"$1.err" & watcher=$!
            until grep -q "fails first" "$1.out"; do sleep 0.05; done
            echo "format: [" >"$1"
            until grep -q "m.yaml:" "$1.err"; do sleep 0.05; done
            cat >"$1"
            until grep -q "100.0 % of 2,501 bytes framed" "$1.out"; do sleep 0.05; done
            kill "$watcher"; cat "$1.out" "$1.err"; rm "$1.out" "$1.err"
            """
        let frametap = try Program.find("frametap").path
        let result = try Program.run(
            "timeout", ["60", "bash", "-c", script, frametap, file.path, Self.capture], input: Array(text.utf8))
        #expect(result.status == 0 && result.text.contains("\n\n"), "\(result.text)\(result.errors)")
    }
}

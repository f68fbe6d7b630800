import Foundation
import Testing

@testable import frametap

/// What commands write their results to.
@Suite struct PrintingTests {
    private static let capture = "\(Example.root)/fixtures/im-json/chat.pcap"

    /// A capture that is being recorded is not overwritten with what another frametap prints.
    @Test(arguments: ["decode", "report"]) func aFileThatIsBeingWrittenStaysAsItIs(command: String) throws {
        let file = try TemporaryFile([], name: "recorded.pcapng")
        let recorded = try FileOutput(creating: file.path, madePrivate: true)
        recorded.write([1, 2, 3])
        let result = try Program.run("frametap", [command, Self.capture, "--output", file.path])
        #expect(result.status == 2)
        #expect(
            result.errors == "frametap: \(file.path) is being written by another frametap; choose another file\n")
        withExtendedLifetime(recorded) {}
        #expect(try Array(Data(contentsOf: URL(filePath: file.path))) == [1, 2, 3])
    }

    /// A longer file that was there leaves nothing behind, and keeps its permissions.
    @Test func aFileThatWasThereIsReplaced() throws {
        let file = try TemporaryFile([UInt8](repeating: 1, count: 1 << 20), name: "old.txt")
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
        let printed = try Program.output("frametap", ["decode", Self.capture, "--as", "ndjson"]).output
        _ = try Program.output("frametap", ["decode", Self.capture, "--as", "ndjson", "--output", file.path])
        #expect(try Array(Data(contentsOf: URL(filePath: file.path))) == printed)
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o644)
    }

    #if os(Linux)
    /// A full disk is an error of every command.
    @Test(arguments: [
        ["--help"], ["--version"], ["decode", "--help"], ["--generate-completion-script", "bash"], ["formats"],
        ["formats", "show", "im-json"], ["formats", "keys"], ["formats", "schema"], ["doctor"],
    ])
    func whatCannotBePrintedIsAnError(arguments: [String]) throws {
        let frametap = try Program.find("frametap").path
        let result = try Program.run("bash", ["-c", #"exec "$0" "$@" > /dev/full"#, frametap] + arguments)
        #expect(result.status == 2)
        #expect(result.errors == "frametap: cannot write standard output: No space left on device\n")
    }
    #endif
}

import Foundation
import Testing

/// `frametap tables`: files that databases read. What is in them, TablesTests and scale/tests look at.
@Suite struct TablesCommandTests {
    private let folder = ShardCommandTests.Folder()
    private let example = Example(name: "redis")

    private func tables(_ options: [String] = []) throws -> Program.Result {
        try Program.run(
            "frametap",
            ["tables", example.capturePath, "--format", example.formatPath, "--output", folder.path] + options)
    }

    /// The paths of all files in the folder.
    private func files() -> [String] {
        let all = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.contains(".") }.sorted()
    }

    @Test func eachFileIsListed() throws {
        let result = try tables()
        #expect(result.status == 0 && result.errors == "")
        let listed = result.text.matches(of: /\{"table":"(\w+)","file":"([^"]+)","rows":(\d+),"bytes":(\d+)\}/)
        #expect(listed.map { String($0.output.2) } == files())
        // Findings, too, of which there are none: queries expect them.
        #expect(Set(listed.map { String($0.output.1) }) == ["connections", "frames", "findings", "round_trips"])
        #expect(listed.contains { $0.output.1 == "findings" && $0.output.3 == "0" })
        for file in listed {
            let bytes = try Data(contentsOf: URL(filePath: "\(folder.path)/\(file.output.2)"))
            #expect(
                bytes.count == Int(file.output.4) && bytes.prefix(4) == Data("PAR1".utf8)
                    && bytes.suffix(4) == Data("PAR1".utf8))
        }
        let trace = try Program.output(
            "frametap", ["decode", "--as", "ndjson", example.capturePath, "--format", example.formatPath])
        let frames = listed.filter { $0.output.1 == "frames" }.reduce(0) { $0 + (Int($1.output.3) ?? 0) }
        #expect(frames == trace.text.split(separator: "\n").count { $0.hasPrefix("{\"event\":\"frame\"") })
        #expect(result.text.contains("{\"format\":\"redis\",\"heartbeat\":false}\n"))
    }

    @Test func filesThatExistAreKept() throws {
        _ = try tables()
        let before = files()
        let again = try tables()
        #expect(again.status == 2 && again.text == "")
        #expect(again.errors.contains("trace.parquet exists; expected a folder without tables of that --name"))
        #expect(files() == before)
        #expect(try tables(["--name", "other"]).status == 0)
        #expect(files().count == 2 * before.count)
    }

    @Test func wrongOptionsAreRefused() throws {
        let name = try tables(["--name", "a/b"])
        #expect(name.status == 64 && name.errors.contains("--name is a/b; expected a file's name, without /"))
        let time = try tables(["--final-before", "yesterday"])
        #expect(time.status == 64 && time.errors.contains("--final-before is yesterday; expected a time such as"))
        let alone = try tables(["--written-before", "2026-11-21T08:00:00Z"])
        #expect(alone.status == 64 && alone.errors.contains("--written-before needs --final-before"))
        #expect(files().isEmpty)
    }

    @Test func whatCannotBeWrittenIsReported() throws {
        let path = "\(folder.path)/file"
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        #expect(FileManager.default.createFile(atPath: path, contents: Data()))
        let result = try Program.run("frametap", ["tables", example.capturePath, "--output", path])
        #expect(result.status == 2 && result.errors.contains("cannot "))
        #expect(result.errors.contains(path))
    }

    @Test func aDamagedCaptureHasWhatIsReadable() throws {
        let bytes = try Data(contentsOf: URL(filePath: example.capturePath))
        let cut = "\(folder.path)-cut.pcap"
        try bytes.dropLast(7).write(to: URL(filePath: cut))
        defer { try? FileManager.default.removeItem(atPath: cut) }
        let result = try Program.run(
            "frametap", ["tables", cut, "--format", example.formatPath, "--output", folder.path])
        #expect(result.status == 2 && result.errors.contains(cut))
        #expect(files().contains { $0.hasPrefix("frames/") })
    }
}

import Foundation
import Testing

/// `frametap shard`: what is decoded from shards is what the captures have.
@Suite struct ShardCommandTests {
    /// A folder that is deleted after the test.
    final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("frametap-shards-\(UUID())").path

        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// The names of the files in it, in order.
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }

        /// Their paths.
        func paths() throws -> [String] { try names().map { "\(path)/\($0)" } }
    }

    private func run(_ arguments: [String], input: [UInt8] = []) throws -> Program.Result {
        try Program.run("frametap", arguments, input: input)
    }

    /// The lines of each connection without its number, and the last line.
    private func trace(
        _ paths: [String], _ options: [String] = []
    ) throws -> (connections: Set<String>, summary: String) {
        let text = try Program.output("frametap", ["decode", "--as", "ndjson"] + options + paths).text
        var connections: [Substring: String] = [:]
        var summary = ""
        for line in text.split(separator: "\n").dropFirst() {
            guard let number = line.firstMatch(of: /"connection":(\d+),/) else {
                summary = String(line)
                continue
            }
            connections[number.output.1, default: ""] += String(line.replacing(/"connection":\d+,/, with: "")) + "\n"
        }
        return (Set(connections.values), summary)
    }

    @Test func packetsNeedNotSayWhereTheyWere() throws {
        let path = Example(name: "redis").capturePath
        let (with, without) = (Folder(), Folder())
        _ = try Program.output("frametap", ["shard", path, "--shards", "2", "--output", with.path])
        _ = try Program.output("frametap", ["shard", path, "--shards", "2", "--output", without.path, "--no-origins"])
        #expect(
            try trace(with.paths(), ["--examples"]).connections == trace(without.paths(), ["--examples"]).connections)
        let lines = try Program.output("frametap", ["packets"] + without.paths()).text.split(separator: "\n")
        let original = try Program.output("frametap", ["packets", path]).text.split(separator: "\n")
        #expect(lines.count == original.count && !lines.contains { $0.contains("comments") })
    }

    @Test(arguments: ["redis", "http", "mysql", "mqtt5", "rtmp"])
    func shardsDecodeToTheSame(name: String) throws {
        let example = Example(name: name, format: name == "mqtt5" ? "mqtt" : nil)
        let (path, options) = (example.capturePath, ["--format", example.formatPath])
        let whole = try trace([path], options)
        #expect(!whole.connections.isEmpty)
        for count in [1, 3, 7] {
            let folder = Folder()
            let result = try Program.output(
                "frametap", ["shard", path, "--shards", "\(count)", "--output", folder.path])
            #expect(try folder.names() == (0..<count).map { "shard-0000\($0).pcapng" })
            #expect(result.text.split(separator: "\n").count == count && result.errors == "")
            let sharded = try trace(try folder.paths(), options)
            #expect(sharded.connections == whole.connections)
            #expect(sharded.summary == whole.summary)
            let before = try Program.output("frametap", ["packets", path]).text.split(separator: "\n")
            let after = try Program.output("frametap", ["packets"] + folder.paths()).text.split(separator: "\n")
            #expect(before.count == after.count)
            #expect(after.allSatisfy { $0.contains(#""comments":["frametap packet "#) })
            #expect(after.allSatisfy { $0.contains(" of \(path)\"]") })
        }
    }

    @Test func severalCapturesAreOneTimeline() throws {
        let paths = ["redis", "http", "nats"].map { Example(name: $0).capturePath }
        let folder = Folder()
        _ = try Program.output("frametap", ["shard"] + paths + ["--shards", "4", "--output", folder.path])
        let (whole, sharded) = (try trace(paths), try trace(try folder.paths()))
        #expect(sharded.connections == whole.connections && sharded.summary == whole.summary)
    }

    @Test func standardInputIsSplit() throws {
        let path = Example(name: "redis").capturePath
        let folder = Folder()
        let bytes = Array(try Data(contentsOf: URL(filePath: path)))
        let result = try run(["shard", "-", "--shards", "2", "--output", folder.path], input: bytes)
        #expect(result.status == 0 && result.errors == "", "\(result.errors)")
        #expect(try trace(try folder.paths()).connections == trace([path]).connections)
    }

    @Test func existingShardsAreReplacedOnRequestOnly() throws {
        let path = Example(name: "redis").capturePath
        let folder = Folder()
        func shard(_ count: Int, _ options: String...) throws -> Program.Result {
            try run(["shard", path, "--shards", "\(count)", "--output", folder.path] + options)
        }
        #expect(try shard(5).status == 0)
        let refused = try shard(2)
        #expect(refused.status == 2 && refused.text == "")
        #expect(refused.errors.contains("\(folder.path)/shard-00000.pcapng exists; expected a folder without shards"))
        // No shard of an earlier run is left.
        #expect(try shard(2, "--force").status == 0)
        #expect(try folder.names() == ["shard-00000.pcapng", "shard-00001.pcapng"])
        // What is read is not replaced.
        let paths = try folder.paths()
        let result = try run(["shard"] + paths + ["--shards", "2", "--output", folder.path, "--force"])
        #expect(result.status == 2 && result.errors.contains("shard-00000.pcapng is a file that is read"))
        #expect(try trace(try folder.paths()).connections == trace([path]).connections)
    }

    @Test func damageIsReportedAsByDecode() throws {
        let path = Example(name: "redis").capturePath
        let cut = try TemporaryFile(Array(try Data(contentsOf: URL(filePath: path)).dropLast(3)))
        let page = try TemporaryFile(Array("<html>".utf8))
        let folder = Folder()
        let paths = [cut.path, page.path, "/nowhere"]
        let result = try run(["shard"] + paths + ["--shards", "3", "--output", folder.path])
        let decoded = try run(["decode", "--as", "none"] + paths)
        #expect(result.status == 2 && decoded.status == 2)
        #expect(result.errors == decoded.errors)
        #expect(result.errors.contains("\(cut.path): byte "))
        let packets = try Program.output("frametap", ["packets"] + folder.paths()).text.split(separator: "\n").count
        #expect(try packets == run(["packets", cut.path]).text.split(separator: "\n").count)
    }

    @Test func whereNothingCanBeWrittenIsReported() throws {
        let path = Example(name: "redis").capturePath
        let file = try TemporaryFile([])
        for folder in [file.path, "\(file.path)/shards", "/proc/shards"] {
            let result = try run(["shard", path, "--shards", "2", "--output", folder])
            #expect(result.status == 2 && result.errors.contains(folder), "\(result.errors)")
        }
        // A limit on the length of files is like a full disk.
        let folder = Folder()
        let program = try Program.find("frametap").path
        let command = "exec '\(program)' shard '\(path)' --shards 1 --output '\(folder.path)'"
        let result = try Program.run("sh", ["-c", "trap '' XFSZ; ulimit -f 2; \(command)"])
        #expect(result.status == 2 && result.text == "")
        #expect(result.errors.contains("cannot write \(folder.path)/shard-00000.pcapng: "), "\(result.errors)")
        #expect(try run(["shard", path, "--shards", "0", "--output", folder.path]).status == 64)
        #expect(try run(["shard", path, "--shards", "4097", "--output", folder.path]).status == 64)
    }

    @Test func moreShardsThanMayBeOpen() throws {
        let path = Example(name: "redis").capturePath
        let program = try Program.find("frametap").path
        func shard(into count: Int) throws -> Folder {
            let folder = Folder()
            let command = "ulimit -n 40; exec '\(program)' shard '\(path)' --shards \(count) --output '\(folder.path)'"
            _ = try Program.output("sh", ["-c", command])
            #expect(try folder.names().count == count)
            return folder
        }
        _ = try shard(into: 4096)
        let folder = try shard(into: 100)
        #expect(try trace(try folder.paths()).connections == trace([path]).connections)
    }
}

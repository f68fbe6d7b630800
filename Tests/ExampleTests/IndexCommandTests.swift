import Foundation
import Testing

/// `frametap index`, and what `decode` reads with it.
@Suite struct IndexCommandTests {
    /// A folder with copies of captures.
    final class Folder {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("frametap-index-\(UUID())").path

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        /// A copy of an example's capture.
        func copy(_ name: String) throws -> String {
            let copy = "\(path)/\(name).pcap"
            try FileManager.default.copyItem(atPath: Example(name: name).capturePath, toPath: copy)
            return copy
        }

        func write(_ bytes: [UInt8], _ name: String) throws -> String {
            try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"))
            return "\(path)/\(name)"
        }
    }

    private func run(_ arguments: [String], input: [UInt8] = []) throws -> Program.Result {
        try Program.run("frametap", arguments, input: input)
    }

    private func bytes(_ path: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path))) }

    /// The trace without its first line, which names the files.
    private func decode(_ arguments: [String], input: [UInt8] = []) throws -> (lines: [String], errors: String) {
        let result = try run(["decode", "--as", "ndjson"] + arguments, input: input)
        return (result.text.split(separator: "\n").dropFirst().map(String.init), result.errors)
    }

    /// The lines of some events, without the numbers of connections.
    private func events(_ lines: [String], _ kinds: [String]) -> [String] {
        lines.filter { line in kinds.contains { line.hasPrefix("{\"event\":\"\($0)\"") } }
            .map { $0.replacing(/"connection":\d+,/, with: "") }.sorted()
    }

    /// The ends of the connections of a capture, in order of opening.
    private func ends(_ path: String) throws -> [(client: String, server: String)] {
        try Program.output("frametap", ["streams", path]).text.split(separator: "\n").compactMap { line in
            guard let match = line.firstMatch(of: /"client":"([^"]+)","server":"([^"]+)"/) else { return nil }
            return (String(match.output.1), String(match.output.2))
        }
    }

    @Test(arguments: ["redis", "http", "mysql", "nats"])
    func withAnIndexItIsTheSame(name: String) throws {
        let folder = try Folder()
        let path = try folder.copy(name)
        let whole = try decode([path]).lines
        let line = try Program.output("frametap", ["index", path]).text
        #expect(line.hasPrefix("{\"file\":\"\(path)\",\"index\":\"\(path).ftindex\",\"indexBytes\":"), "\(line)")
        let ends = try ends(path)
        for (client, server) in ends.prefix(4) {
            for option in ["\(client)-\(server)", "\(server)-\(client)"] {
                let indexed = try decode([path, "--connection-of", option])
                let plain = try decode([path, "--connection-of", option, "--no-index"])
                #expect(indexed.lines == plain.lines && !indexed.lines.isEmpty)
                #expect(indexed.errors.hasPrefix("frametap: \(path): reading ") && plain.errors == "")
                // They are lines of the whole trace.
                let kinds = ["frame", "missing", "unframed", "closed"]
                #expect(Set(events(whole, kinds)).isSuperset(of: events(indexed.lines, kinds)))
                #expect(events(indexed.lines, ["opened"]).count >= 1)
            }
        }
        guard let first = ends.first, let host = first.client.split(separator: ":").first else { return }
        let all = ends.flatMap { ["--connection-of", "\($0.client)-\($0.server)"] }
        #expect(
            try decode([path] + all).lines.filter { !$0.contains("\"summary\"") }
                == whole.filter { !$0.contains("\"summary\"") })
        #expect(
            try decode([path, "--host", String(host)]).lines
                == decode([path, "--host", String(host), "--no-index"]).lines)
        let none = try decode([path, "--host", "192.0.2.77"])
        #expect(none.errors.contains("no connection matches --host 192.0.2.77"))
    }

    /// The time of the event in the middle of a trace.
    private func middle(_ lines: [String]) throws -> String {
        let times = lines.compactMap { $0.firstMatch(of: /"time":"([^"]+)"/).map { String($0.output.1) } }.sorted()
        return try #require(times.dropFirst(times.count / 2).first)
    }

    @Test(arguments: ["redis", "http", "nats"])
    func connectionsOfATimeAreRead(name: String) throws {
        let folder = try Folder()
        let path = try folder.copy(name)
        let time = try middle(decode([path]).lines)
        let kinds = ["frame", "missing", "unframed", "finding"]
        let before = try [["--since", time], ["--until", time]].map { try decode([path] + $0) }
        _ = try Program.output("frametap", ["index", path])
        for (option, plain) in zip(["--since", "--until"], before) {
            let indexed = try decode([path, option, time])
            #expect(events(indexed.lines, kinds) == events(plain.lines, kinds), "\(option) \(time)")
            #expect(plain.errors == "" && indexed.errors.contains(": reading "))
            #expect(try decode([path, option, time, "--no-index"]).lines == plain.lines)
            // Numbers are those of all connections.
            #expect(
                try decode([path, option, time, "--connection", "2"]).lines
                    == decode([path, option, time, "--connection", "2", "--no-index"]).lines)
        }
    }

    private static func little(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func big(_ value: Int, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - $0))) }
    }

    /// What a capture begins with (pcap, link type RAW).
    private static let header: [UInt8] =
        [0xd4, 0xc3, 0xb2, 0xa1, 2, 0, 4, 0] + little(0) + little(0) + little(65_535) + little(101)

    /// A packet so many seconds after 2023-11-14T22:13:20Z.
    private static func packet(
        _ seconds: Int, _ port: Int, fromClient: Bool, _ sequence: Int, _ flags: Int, _ text: String
    ) -> [UInt8] {
        let ports = fromClient ? big(port, 2) + big(8_080, 2) : big(8_080, 2) + big(port, 2)
        let hosts: [UInt8] = fromClient ? [10, 0, 0, 1, 10, 0, 0, 2] : [10, 0, 0, 2, 10, 0, 0, 1]
        var segment: [UInt8] = ports + big(sequence, 4) + big(1, 4)
        segment += [0x50, UInt8(flags), 255, 255, 0, 0, 0, 0]
        segment += Array(text.utf8)
        let count = 20 + segment.count
        var bytes = little(1_700_000_000 + seconds) + little(0) + little(count) + little(count)
        bytes += [0x45, 0] + big(count, 2)
        bytes += [0, 0, 0, 0, 64, 6, 0, 0] + hosts + segment
        return bytes
    }

    /// A capture of two connections, an hour apart: each sends a line, and both sides end it.
    private static let twoHours: [UInt8] = {
        var bytes = header
        for (start, port) in [(0, 40_001), (3_600, 40_002)] {
            bytes += packet(start, port, fromClient: true, 1, 0x18, "hello\n")
            bytes += packet(start + 1, port, fromClient: true, 7, 0x11, "")
            bytes += packet(start + 1, port, fromClient: false, 1, 0x11, "")
        }
        return bytes
    }()

    /// The status of a check, which is the same with an index and without it.
    private func status(_ path: String, failingOn kind: String, _ options: [String]) throws -> Int32 {
        let arguments = ["decode", path, "--format", "line", "--as", "none", "--fail-on", kind] + options
        let (indexed, plain) = (try run(arguments), try run(arguments + ["--no-index"]))
        #expect(indexed.status == plain.status, "\(kind) \(options): \(indexed.errors)\(plain.errors)")
        return plain.status
    }

    /// The line of each connection is no frame, as it may have begun before the capture. A check counts what is not shown, too.
    @Test(
        arguments: [
            [], ["--until", "2023-11-14T22:13:20Z"], ["--since", "2023-11-14T23:43:20Z"],
            ["--since", "2023-11-14T22:43:20Z", "--until", "2023-11-14T23:00:00Z"],
        ])
    func aCheckCountsWhatATimeCutsOff(_ options: [String]) throws {
        let folder = try Folder()
        let path = try folder.write(Self.twoHours, "two.pcap")
        _ = try Program.output("frametap", ["index", path])
        #expect(try status(path, failingOn: "unframed", options) == 1)
    }

    @Test func connectionsOfOtherTimesAreNotRead() throws {
        let folder = try Folder()
        let path = try folder.write(Self.twoHours, "two.pcap")
        _ = try Program.output("frametap", ["index", path])
        let format = ["--format", "line"]
        for (option, port) in [
            (["--since", "2023-11-14T22:43:20Z"], 40_002), (["--until", "2023-11-14T22:43:20Z"], 40_001),
        ] {
            let lines = try decode([path] + format + option).lines
            let opened = events(lines, ["opened"])
            #expect(opened.count == 1 && opened[0].contains("\"client\":\"10.0.0.1:\(port)\""), "\(lines)")
            // The line began before the capture, for all that is known: it is no frame.
            let shown = events(lines, ["frame", "unframed"])
            #expect(shown.count == 1)
            let plain = try decode([path, "--no-index"] + format + option).lines
            let numbered = events(plain, ["frame", "unframed"])
            #expect(events(plain, ["opened"]).count == 2)
            #expect(numbered.map { $0.replacing("\"connection\":2", with: "\"connection\":1") } == shown)
        }
    }

    @Test func severalCapturesAndAnotherFolder() throws {
        let folder = try Folder()
        let paths = try ["redis", "http"].map { try folder.copy($0) }
        let indexes = "\(folder.path)/indexes"
        _ = try Program.output("frametap", ["index"] + paths + ["--output", indexes])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: indexes).sorted()
                == ["http.pcap.ftindex", "redis.pcap.ftindex"])
        for path in paths {
            let (client, server) = try #require(try ends(path).last)
            let option = ["--connection-of", "\(client)-\(server)"]
            let indexed = try decode(paths + option + ["--index", indexes])
            #expect(try indexed.lines == decode(paths + option).lines)
            #expect(indexed.errors.hasPrefix("frametap: 2 captures: reading "), "\(indexed.errors)")
        }
    }

    /// Opening a FIFO would wait for ever.
    @Test func anIndexIsARegularFile() throws {
        let folder = try Folder()
        let path = try folder.copy("redis")
        let (client, server) = try #require(try ends(path).first)
        let option = ["--connection-of", "\(client)-\(server)"]
        let plain = try decode([path] + option).lines
        #expect(mkfifo("\(path).ftindex", 0o600) == 0)
        let decoded = try decode([path] + option)
        #expect(decoded.lines == plain && !plain.isEmpty)
        #expect(decoded.errors.contains("\(path).ftindex is not a regular file; expected an index"))
        let missing = try Program.run("frametap", ["decode", path, "--host", "10.0.0.1", "--index", "\(path).nowhere"])
        #expect(missing.status == 64)
    }

    @Test func aStaleIndexIsNoticed() throws {
        let folder = try Folder()
        let path = try folder.copy("redis")
        let (client, server) = try #require(try ends(path).first)
        let option = ["--connection-of", "\(client)-\(server)"]
        let plain = try decode([path] + option).lines
        _ = try Program.output("frametap", ["index", path])
        let content = try bytes(path)
        // Modified since, with the same length.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: path)
        let modified = try decode([path] + option)
        #expect(modified.lines == plain)
        #expect(modified.errors.contains("\(path).ftindex is of other content: \(path) was modified since"))
        _ = try folder.write(Array(content.dropLast(100)), "redis.pcap")
        let shorter = try decode([path] + option).errors
        #expect(shorter.contains("had \(content.count) bytes, and has \(content.count - 100)"), "\(shorter)")
        // Indexed again, it is of use again.
        _ = try folder.write(content, "redis.pcap")
        _ = try Program.output("frametap", ["index", path])
        #expect(try decode([path] + option).errors.contains(": reading "))
        // Damaged.
        var index = try bytes("\(path).ftindex")
        index[index.count - 1] ^= 1
        _ = try folder.write(index, "redis.pcap.ftindex")
        let damaged = try decode([path] + option)
        #expect(damaged.lines == plain)
        #expect(damaged.errors.contains("\(path).ftindex: byte "), "\(damaged.errors)")
    }

    @Test func otherFilesAreNotReplaced() throws {
        let folder = try Folder()
        let path = try folder.copy("redis")
        let other = try folder.write(Array("notes of mine".utf8), "redis.pcap.ftindex")
        let result = try run(["index", path])
        #expect(result.status == 2 && result.errors.contains("\(other) exists and is not an index"))
        #expect(try bytes(other) == Array("notes of mine".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).count == 2)
        #expect(try run(["index", "/nowhere"]).status == 2)
        #expect(try run(["index", "-"]).status == 64)
        let page = try folder.write(Array("<html>".utf8), "page.html")
        #expect(try run(["index", page]).errors.contains("\(page): byte 0: expected a pcap"))
        #expect(!FileManager.default.fileExists(atPath: "\(page).ftindex"))
    }

    @Test func damagedCapturesAreReportedAsWithoutAnIndex() throws {
        let folder = try Folder()
        let path = try folder.write(Array(try bytes(Example(name: "redis").capturePath).dropLast(3)), "cut.pcap")
        let indexing = try run(["index", path])
        #expect(indexing.status == 2 && indexing.errors.contains("\(path): byte "))
        for (client, server) in try ends(Example(name: "redis").capturePath) {
            let option = ["--connection-of", "\(client)-\(server)"]
            let (indexed, plain) = (try decode([path] + option), try decode([path, "--no-index"] + option))
            #expect(indexed.lines == plain.lines)
            #expect(indexed.errors.hasSuffix(plain.errors) && !plain.errors.isEmpty)
        }
    }

    @Test func compressedCapturesAndPipesAreFiltered() throws {
        let folder = try Folder()
        let content = try bytes(Example(name: "redis").capturePath)
        let plain = Example(name: "redis").capturePath
        let path = try folder.write(Program.output("gzip", ["-c"], input: content).output, "redis.pcap.gz")
        _ = try Program.output("frametap", ["index", path])
        let (client, server) = try #require(try ends(plain).last)
        let option = ["--connection-of", "\(client)-\(server)"]
        let expected = try decode([plain] + option).lines
        #expect(try decode([path] + option).lines == expected)
        #expect(try decode(["-"] + option, input: content).lines == expected)
    }

    @Test func wrongAddressesAreWrongUsage() throws {
        let path = Example(name: "redis").capturePath
        for options in [
            ["--connection-of", "10.0.0.1:80"], ["--connection-of", "a:1-b:2"], ["--connection-of", "::1:80-::2:80"],
            ["--host", "10.0.0"], ["--host", "localhost"], ["--index", "x", "--no-index"],
            ["--raw", "--format", "line", "--host", "::1"],
        ] {
            #expect(try run(["decode", path] + options).status == 64, "\(options)")
        }
    }
}

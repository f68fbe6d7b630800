import ArgumentParser
import Foundation
import Framing
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

@testable import frametap

/// The files of `--write` and `--trace` on a disk: series, HUP, crashes, full disks.
@Suite struct RecordFileTests {
    private let files: Folder
    private let traffic: Traffic

    init() async throws {
        files = try Folder()
        traffic = try await Traffic()
    }

    /// Starts a proxy that records into the folder, or its trace on standard output, and connects through it.
    private func proxy(
        _ arguments: [String] = [], by shell: String? = nil, intoFolder: Bool = true
    ) async throws -> Program {
        let recorded =
            intoFolder ? ["--write", files.path("a.pcapng"), "--trace", files.path("a.ndjson")] : ["--trace", "-"]
        let command =
            [
                "proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:\(traffic.server)", "--format", Traffic.format,
                "--as", "none",
            ] + recorded + arguments
        let program: Program
        if let shell {
            let path = try Program.find("frametap").path
            program = try Program("bash", ["-c", shell + #"; exec "$0" "$@""#, path] + command)
        } else {
            program = try Program("frametap", command)
        }
        let port = try await program.match(/listening on 127\.0\.0\.1:(\d+)\n/, inErrors: true)
        let number: Int = try #require(Int(port))
        try await traffic.connect(to: number)
        return program
    }

    private func end(_ program: Program) async throws {
        try await traffic.close()
        program.signal(SIGTERM)
        #expect(try await program.exitStatus() == 0, "\(program.errors)")
    }

    /// The names of the files of a kind.
    private func names(_ ending: String) throws -> [String] { try files.names().filter { $0.hasSuffix(ending) } }

    private func decoded(_ names: [String]) throws -> DecodedCapture {
        let options = DecodingOptions(.fixed(try FormatOptions.format(Traffic.format)))
        return DecodedCapture(merging: names.map(files.bytes), options: options)
    }

    /// Expects that the traces together match the captures together.
    private func expectSame(_ captures: [String], _ traces: [String]) throws {
        let capture = try decoded(captures)
        #expect(capture.damage == nil)
        let trace = try traces.flatMap { try traceLines(files.text($0)) }
        let differences = ComparableTrace(trace).differences(to: ComparableTrace(try capture.lines()))
        #expect(differences == [])
    }

    /// The lines of a trace that is being written: the last one may be torn.
    private func wholeLines(_ name: String) throws -> [TraceLine] {
        let text = files.text(name)
        return try traceLines(text.lastIndex(of: "\n").map { String(text[...$0]) } ?? "")
    }

    /// How many frames a trace or a capture has.
    private func frames(_ lines: [TraceLine]) -> Int { lines.count { $0.event == "frame" } }

    @Test func aSeriesSaysWhatOneFileWould() async throws {
        _ = try files.write([1, 2, 3], to: "a-0007.pcapng")
        let program = try await proxy(["--rotate", "20kB"])
        for _ in 0..<8 { try await traffic.send(String(repeating: "y", count: 99), count: 100) }
        try await end(program)
        let (captures, traces) = (try names(".pcapng").dropFirst(), try names(".ndjson"))
        // Existing files are not overwritten.
        #expect(files.bytes("a-0007.pcapng") == [1, 2, 3] && captures.first == "a-0008.pcapng")
        #expect(captures.count > 3 && traces.count > 3 && traces.first == "a-0001.ndjson")
        try expectSame(Array(captures), traces)
        let first = files.text("a-0001.ndjson").prefix { $0 != "\n" }
        for name in captures + traces {
            #expect(try files.mode(name) == 0o600)
            #expect(files.bytes(name).count <= 20_000, "\(name)")
            if name.hasSuffix(".ndjson") { #expect(files.text(name).hasPrefix(first + "\n")) }
        }
        for name in captures { #expect(try decoded([name]).damage == nil) }
    }

    @Test func onlySoManyAreKept() async throws {
        let program = try await proxy(["--rotate", "20kB,1h", "--keep", "2"])
        for _ in 0..<8 { try await traffic.send(String(repeating: "y", count: 99), count: 100) }
        try await end(program)
        #expect(try names(".pcapng").count == 2 && names(".ndjson").count == 2)
        #expect(try !files.names().contains("a-0001.pcapng"))
        let last = try #require(try names(".ndjson").last)
        #expect(files.text(last).contains(#"{"event":"summary""#))
    }

    /// Letters of several bytes do not hide the earlier files of a series, and those of others are none of it.
    @Test(arguments: ["größe.pcapng", "größe", "日本.x.é", ".ß"]) func aSeriesMayHaveAnyName(_ name: String) throws {
        let series = RecordSeries(files.path(name), keep: 2)
        #expect(series.nextNumber() == 1)
        var paths = (1...5).map(series.path)
        for path in paths { try Data([1]).write(to: URL(fileURLWithPath: path)) }
        for other in ["größer-0009.pcapng", "größe-00x9.pcapng", "größe-009.pcapng", "größe-0009.pcap"] {
            _ = try files.write([1], to: other)
        }
        #expect(series.nextNumber() == 6)
        series.deleteOld(current: 5)
        paths.removeAll { FileManager.default.fileExists(atPath: $0) }
        #expect(paths == (1...3).map(series.path), "the one that is being written does not count")
    }

    /// Dates and the like in names of others are no numbers of the series: nothing follows them, and they are not deleted.
    @Test func numbersOfASeriesAreShort() throws {
        let series = RecordSeries(files.path("cap.pcapng"), keep: 1)
        let others = ["cap-20261120.pcapng", "cap-1000000.pcapng", "cap-000007.pcapng"]
        for name in others { _ = try files.write([1], to: name) }
        #expect(series.nextNumber() == 1)
        for number in 1...2 { try Data([1]).write(to: URL(fileURLWithPath: series.path(number))) }
        series.deleteOld(current: 2)
        #expect(try files.names() == (others + ["cap-0002.pcapng"]).sorted())
        // The last number is one of the series, and the end of it.
        _ = try files.write([1], to: "cap-999999.pcapng")
        #expect(series.nextNumber() == 1_000_000)
        let error = #expect(throws: CommandError.self) { try record("cap.pcapng") }
        #expect(error?.description.contains("its last number, 999999, is taken") ?? false)
    }

    /// A record of a series in the folder.
    private func record(_ name: String, keep: Int? = nil) throws -> RecordFile {
        try RecordFile(
            files.path(name), of: .lines, rotation: Rotation(size: 10), keep: keep, start: Timestamp(nanoseconds: 0)
        ) { _ in }
    }

    /// A series that continues only when it is asked to.
    private func record(_ name: String, of pieces: RecordPieces, _ hangUps: HangUps) throws -> RecordFile {
        try RecordFile(
            files.path(name), of: pieces, rotation: Rotation(), keep: nil, start: Timestamp(nanoseconds: 0),
            whenBroken: { _ in }, hangUpCount: { hangUps.count })
    }

    private final class HangUps {
        var count = 0
    }

    /// Two runs write a series in turns: each takes the next free number, and deletes nothing that the other one writes.
    @Test func twoRunsMayShareASeries() throws {
        let start = Timestamp(nanoseconds: 0)
        let runs = try ["one", "two"].map { (name: $0, file: try record("a.ndjson")) }
        for number in 1...3 {
            for (name, file) in runs {
                if number > 1 { #expect(file.next(ending: [], at: start)) }
                file.write(Array("\(name) \(number)\n".utf8))
            }
        }
        let expected = ["one 1", "two 1", "one 2", "two 2", "one 3", "two 3"].map { $0 + "\n" }
        #expect(try files.names().map { files.text($0) } == expected)
        let third = try record("a.ndjson", keep: 1)
        for (_, file) in runs + [("three", third)] { file.write(Array("more\n".utf8)) }
        #expect(try files.names() == ["a-0005.ndjson", "a-0006.ndjson", "a-0007.ndjson"])
        #expect(
            try files.names().map { files.text($0) } == ["one 3\nmore\n", "two 3\nmore\n", "more\n"],
            "what was written is where it was")
    }

    #if os(Linux)
    /// Files of a series are not replaced by empty ones when the disk is full, and no more are begun before a HUP.
    @Test func aFullDiskEndsASeries() throws {
        let start = Timestamp(nanoseconds: 0)
        let file = try record("a.ndjson", keep: 1)
        file.write(Array("one\n".utf8))
        #expect(file.next(ending: [], at: start))
        file.write(Array("two\n".utf8))
        #expect(try files.names() == ["a-0002.ndjson"])
        #expect(file.next(ending: [], at: start))
        try fillDisk(of: "a-0003.ndjson")
        file.write(Array("three\n".utf8))
        #expect(!file.next(ending: [], at: start))
        file.write(Array("four\n".utf8))
        #expect(try files.names() == ["a-0002.ndjson", "a-0003.ndjson"])
        #expect(files.text("a-0002.ndjson") == "two\n")
    }

    /// The lines that a full disk kept from a trace are counted where it continues, and at its end.
    @Test func aTraceSaysHowManyLinesItLacks() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let hangUps = HangUps()
        let record = LineRecord(try record("a.ndjson", of: .lines, hangUps))
        let writer = NDJSONWriter(to: record, source: "tests", tool: "frametap tests")
        var lost = 0
        func write(_ count: Int) {
            for _ in 0..<count {
                writer.write(
                    .missing(
                        RunEvent(
                            connection: 1, from: .fromClient, time: Timestamp(nanoseconds: 1), offset: 0, length: 1)))
                if Bool.random(using: &generator) { writer.flush() }
            }
            writer.flush()
        }
        for number in 1...3 {
            write(Int.random(in: 1...20, using: &generator))
            #expect(record.discarded == lost, "seed \(seed)")
            try fillDisk(of: "a-000\(number).ndjson")
            let count = Int.random(in: 1...20, using: &generator)
            write(count)
            lost += count
            #expect(record.discarded == lost, "seed \(seed)")
            hangUps.count += 1
            record.advance()
            let first = files.text("a-000\(number + 1).ndjson").prefix { $0 != "\n" }
            #expect(
                first
                    == #"{"event":"trace","version":2,"source":"tests","tool":"frametap tests","unwritten":\#(lost)}"#,
                "seed \(seed)")
        }
        writer.summary(Summary())
        #expect(files.text("a-0004.ndjson").hasSuffix(#","findings":{},"unwritten":\#(lost)}"# + "\n"), "seed \(seed)")
    }

    /// The packets that a full disk kept from a capture are in the statistics from where it continues.
    @Test func aCaptureSaysHowManyPacketsItLacks() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let (hangUps, start) = (HangUps(), Timestamp(nanoseconds: 0))
        let capture = CaptureRecord(
            to: try record("a.pcapng", of: .blocks, hangUps), tool: "tests",
            interface: CaptureRecord.Interface(name: "tests", linkType: .raw), start: start)
        func append(_ count: Int) {
            // Not IP: they are counted as that.
            for _ in 0..<count { capture.append([UInt8](repeating: 0, count: 20).span.bytes, at: start) }
            capture.flush()
        }
        func counts() -> [String: Int] {
            let options = DecodingOptions(.automatic([]))
            let decoded = DecodedCapture(files.bytes("a-0002.pcapng"), options: options)
            #expect(decoded.damage == nil)
            return Dictionary(decoded.counters.skippedByKind.map { ($0.kind, $0.packets) }) { $0 + $1 }
        }
        append(3)
        try fillDisk(of: "a-0001.pcapng")
        let lost = Int.random(in: 1...20, using: &generator)
        append(lost)
        hangUps.count += 1
        capture.advance(to: start)
        append(2)
        capture.finish(at: start)
        #expect(counts()[Skipped.droppedByInterface.rawValue] == lost, "seed \(seed): \(counts())")
        var reader = CaptureReader(CaptureBytes(files.bytes("a-0002.pcapng")))
        var drops = ReportedDrops()
        try reader.read(to: &drops)
        #expect(drops.inPackets == UInt64(lost), "seed \(seed)")
    }

    /// Writing to a file that this process has open fails from now on.
    private func fillDisk(of name: String) throws {
        let path = URL(fileURLWithPath: files.path(name)).resolvingSymlinksInPath().path
        let full = open("/dev/full", O_WRONLY)
        defer { close(full) }
        var found = 0
        // Other tests have many open, too.
        for descriptor in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap({ Int32($0) })
        {
            let link = "/proc/self/fd/\(descriptor)"
            guard (try? FileManager.default.destinationOfSymbolicLink(atPath: link)) == path else { continue }
            #expect(dup2(full, descriptor) == descriptor)
            found += 1
        }
        try #require(full >= 0 && found == 1)
    }
    #endif

    /// The same command again, or another one with the same files, ends, and the capture stays whole.
    @Test func filesOfAnotherProxyAreLeftAlone() async throws {
        let program = try await proxy()
        let port = try await program.match(/listening on 127\.0\.0\.1:(\d+)\n/, inErrors: true)
        try await traffic.send("before", count: 3)
        try await eventually("the bytes") { files.text("a.ndjson").contains("before") }
        let (capture, trace, new) = (files.path("a.pcapng"), files.path("a.ndjson"), files.path("new"))
        let taken = "is being written by another frametap; choose another file\n"
        for (listen, records, message) in [
            (port, ["--write", capture, "--trace", trace], "127.0.0.1:\(port): Address already in use\n"),
            ("0", ["--write", capture], "frametap: \(capture) \(taken)"),
            ("0", ["--write", new, "--trace", trace], "frametap: \(trace) \(taken)"),
        ] {
            let second = try Program(
                "frametap",
                ["proxy", "--listen", "127.0.0.1:\(listen)", "--to", "127.0.0.1:\(traffic.server)"] + records)
            #expect(try await second.exitStatus() == 2)
            #expect(second.errors.hasSuffix(message), "\(second.errors)")
        }
        try await traffic.send("afterwards")
        try await end(program)
        try expectSame(["a.pcapng"], ["a.ndjson"])
        #expect(files.text("a.ndjson").contains("before") && files.text("a.ndjson").contains("afterwards"))
        // A later process may have them.
        let next = try await proxy()
        try await end(next)
        #expect(!files.text("a.ndjson").contains("before"))
    }

    /// A file that was there, and that anyone could read, is its owner's alone from then on.
    @Test func anExistingFileBecomesPrivate() async throws {
        for name in ["a.pcapng", "a.ndjson"] {
            let path = try files.write([1, 2, 3], to: name)
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        }
        let program = try await proxy()
        #expect(try files.mode("a.pcapng") == 0o600 && files.mode("a.ndjson") == 0o600)
        try await end(program)
        try expectSame(["a.pcapng"], ["a.ndjson"])
    }

    @Test func aFileThatIsOldEnoughIsEnded() async throws {
        let program = try await proxy(["--rotate", "300ms"])
        try await traffic.send("first")
        // No more traffic: time alone ends them.
        try await eventually("a second file of each") {
            try names(".pcapng").contains("a-0002.pcapng") && names(".ndjson").contains("a-0002.ndjson")
        }
        try await traffic.send("second")
        try await end(program)
        try expectSame(try names(".pcapng"), try names(".ndjson"))
    }

    @Test func HUPBeginsAnewWhatWasMovedAway() async throws {
        let program = try await proxy()
        try await traffic.send("before", count: 3)
        for ending in ["pcapng", "ndjson"] {
            let name = "a.\(ending)"
            try await eventually("the bytes") { files.text(name).contains("before") }
            try FileManager.default.moveItem(atPath: files.path(name), toPath: files.path("old.\(ending)"))
        }
        program.signal(SIGHUP)
        try await eventually("new files") { try files.names().filter { $0.hasPrefix("a.") }.count == 2 }
        try await traffic.send("behind", count: 3)
        // One that still exists is continued.
        program.signal(SIGHUP)
        try await traffic.send("more")
        try await end(program)
        try expectSame(["old.pcapng", "a.pcapng"], ["old.ndjson", "a.ndjson"])
        #expect(try decoded(["old.pcapng"]).damage == nil)
        #expect(files.text("a.ndjson").hasPrefix(#"{"event":"trace","#))
        #expect(try files.mode("a.pcapng") == 0o600 && files.mode("a.ndjson") == 0o600)
        #expect(try files.names().count == 4)
    }

    @Test func whatPassedASecondBeforeACrashIsThere() async throws {
        let program = try await proxy()
        try await traffic.send("early", count: 50)
        try await eventually("what passed is on the disk") {
            try frames(decoded(["a.pcapng"]).lines()) == 50 && frames(wholeLines("a.ndjson")) == 50
        }
        // These may be lost, and may be torn.
        try await traffic.send(String(repeating: "z", count: 5_000), count: 20)
        program.signal(SIGKILL)
        #expect(try await program.exitStatus() == -SIGKILL)
        let capture = try decoded(["a.pcapng"])
        #expect(capture.damage == nil || capture.damage?.kind == .truncated)
        // The last line may be torn: a line that ends with a newline is whole.
        let trace = try wholeLines("a.ndjson")
        for lines in [try capture.lines(), trace] {
            #expect(lines.count { $0.text.contains(#""text":"early"#) } == 50)
        }
    }

    @Test func aFullDiskIsSaidOnceAndRelayingGoesOn() async throws {
        // 40 blocks of 1,024 bytes, as the shell counts them; then EFBIG, as ENOSPC would be.
        let program = try await proxy(by: "ulimit -f 40")
        for _ in 0..<2 { try await traffic.send(String(repeating: "y", count: 999), count: 100) }
        try await eventually("both complaints") { program.errors.matches(of: /cannot write/).count == 2 }
        // A HUP makes it try again until there is no room: there is a little, where the files were cut.
        program.signal(SIGHUP)
        while program.errors.matches(of: /cannot write/).count < 4 {
            try await traffic.send(String(repeating: "y", count: 999), count: 20)
        }
        try await end(program)
        #expect(
            program.errors.matches(of: #/cannot write .*a\.pcapng: File too large; /#).count == 2, "\(program.errors)")
        #expect(
            program.errors.matches(of: #/cannot write .*a\.ndjson: File too large; /#).count == 2, "\(program.errors)")
        // The written data is whole, and there is as much of it as fits, however many lines were written at once.
        #expect(files.bytes("a.pcapng").count > 0 && files.bytes("a.pcapng").count <= 40 << 10)
        #expect(try decoded(["a.pcapng"]).damage == nil)
        let trace = files.text("a.ndjson")
        #expect(trace.hasSuffix("\n"))
        let lines = try traceLines(trace)
        let longest = trace.split(separator: "\n").map(\.utf8.count).max() ?? 0
        #expect(frames(lines) > 0 && trace.utf8.count > (40 << 10) - 2 * longest, "\(trace.utf8.count) of 40,960 bytes")
    }

    @Test func completePiecesStay() {
        let lines = Array("{}\n{\"a\":1}\n{".utf8)
        var (writer, blocks) = (PcapngWriter(), [UInt8]())
        writer.appendSectionHeader(application: "frametap", to: &blocks)
        let whole = blocks.count
        _ = writer.appendInterface(name: "proxy", to: &blocks)
        // Some of a larger buffer.
        for (pieces, bytes, complete) in [(RecordPieces.lines, lines, 11), (.blocks, Array(blocks.dropLast()), whole)] {
            let slice = ([0x0a, 0x0a] + bytes)[2...]
            #expect(pieces.completeLength(of: slice) == complete)
            #expect(pieces.completeLength(of: slice.prefix(1)) == 0 && pieces.completeLength(of: []) == 0)
        }
    }

    /// Standard output may be a file that has something already: after an error, that and what is complete stay.
    @Test(arguments: ["exec >> 'FILE'", "exec 1<> 'FILE'; read -r _ <&1"])
    func whatStandardOutputHadStays(_ redirection: String) async throws {
        let path = files.path("out.ndjson")
        try Data("before\n".utf8).write(to: URL(fileURLWithPath: path))
        let program = try await proxy(
            by: "ulimit -S -f 40; " + redirection.replacingOccurrences(of: "FILE", with: path), intoFolder: false)
        try await traffic.send(String(repeating: "y", count: 999), count: 100)
        try await eventually("a complaint") { program.errors.contains("cannot write standard output") }
        #if os(Linux)
        // There is room again: what follows is written after, and not after a run of zeros.
        _ = try await Program.run("prlimit", ["--pid", "\(program.identifier)", "--fsize=unlimited"])
        #endif
        program.signal(SIGHUP)
        // Until the signal has been handled, what is sent is lost.
        for _ in 0..<200 where !files.text("out.ndjson").contains("behind") { try await traffic.send("behind") }
        try await end(program)
        let text = files.text("out.ndjson")
        #expect(text.hasPrefix("before\n{\"event\":\"trace\"") && text.hasSuffix("\n") && !text.contains("\0"))
        let lines = try traceLines(String(text.dropFirst(7)))
        #expect(frames(lines) > 0)
        #if os(Linux)
        #expect(lines.contains { $0.text.contains(#""text":"behind"#) })
        #endif
    }

    @Test func whereNoNextFileCanBeCreatedWritingGoesOn() async throws {
        let program = try await proxy(["--rotate", "20kB"])
        let away = files.path("") + "-away"
        defer { try? FileManager.default.removeItem(atPath: away) }
        try await traffic.send("first")
        try await eventually("the first file") { files.text("a-0001.ndjson").contains("first") }
        try FileManager.default.moveItem(atPath: files.url.path, toPath: away)
        for _ in 0..<8 { try await traffic.send(String(repeating: "y", count: 99), count: 100) }
        try await eventually("both complaints") { program.errors.matches(of: /cannot create/).count == 2 }
        try FileManager.default.moveItem(atPath: away, toPath: files.url.path)
        // Now there is room again.
        program.signal(SIGHUP)
        try await eventually("the next files") { try files.names().contains("a-0002.ndjson") }
        try await traffic.send("last")
        try await end(program)
        #expect(program.errors.matches(of: /cannot create/).count == 2, "\(program.errors)")
        try expectSame(try names(".pcapng"), try names(".ndjson"))
    }

    @Test(
        arguments: [
            ("100MB", 100_000_000, nil), ("1h", nil, 3600), ("100MB,1h", 100_000_000, 3600), ("90s,4KiB", 4_096, 90),
            ("500B", 500, nil), ("5m", nil, 300), ("5M,5m", 5_000_000, 300),
        ] as [(String, Int?, Double?)])
    func whatRotateTakes(_ text: String, _ size: Int?, _ seconds: Double?) throws {
        let rotation = try Rotation(parsing: text)
        #expect(rotation.size == size && rotation.interval?.seconds == seconds)
    }

    @Test(arguments: ["", "0", "100", "0s", "1h,", "1h,2h", "1MB,2MB", "1MB,5", "often", "-1"])
    func whatItDoesNotTake(_ text: String) {
        #expect(throws: ValidationError.self) { try Rotation(parsing: text) }
    }
}

import Foundation
import TestSupport
import Testing

/// `frametap capture` on the loopback interface. Tests that need the permission to capture are left out without it
/// (`./scripts/test` as root has it).
@Suite(.serialized) struct CaptureCommandTests {
    /// Starts it for the traffic of a port, and waits until it is capturing.
    private func capture(_ port: Int, _ arguments: [String] = []) async throws -> Program {
        try needPermission()
        let program = try Program("frametap", ["capture", "lo", "--bpf", "tcp port \(port)"] + arguments)
        _ = try await program.match(/(capturing) on lo/, inErrors: true)
        return program
    }

    /// Leaves the test out if it may not capture.
    private func needPermission() throws {
        if geteuid() != 0 { try InstalledPrograms.leaveOut(needing: "the permission to capture") }
    }

    private static func comparable(_ trace: String) throws -> ComparableTrace { ComparableTrace(try traceLines(trace)) }

    /// Each of two programs that capture gets its own times.
    private static func withoutTimes(_ trace: String) throws -> ComparableTrace {
        try comparable(trace.replacing(#/"(time|started)":"[^"]*",/#, with: ""))
    }

    /// Runs a program that receives signals: programs inherit the signals that a test's thread blocks.
    private static let unblocked = """
        import os, signal, sys
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execvp(sys.argv[1], sys.argv[1:])
        """

    @Test func itSeesWhatTcpdumpSees() async throws {
        let tcpdump = try Program.find("tcpdump").path
        let files = try Folder()
        let server = try Program("frametap", ["serve", "im-json", "--listen", "127.0.0.1:0"])
        let port = try #require(
            Int(try await server.match(/listening on 127\.0\.0\.1:(\d+)\n/, inErrors: true)))
        let program = try await capture(
            port,
            ["--as", "ndjson", "--write", files.path("own.pcapng"), "--trace", files.path("trace.ndjson")])
        let other = try Program(
            "python3",
            [
                "-c", Self.unblocked, tcpdump, "-i", "lo", "-B", "16384", "-U", "--immediate-mode",
                "--time-stamp-precision=nano", "-Z",
                "root",
            ]
                + ["-w", files.path("other.pcap"), "tcp port \(port)"])
        _ = try await other.match(/(listening) on lo/, inErrors: true)
        _ = try await Program.run(
            "frametap", ["connect", "im-json", "--to", "127.0.0.1:\(port)", "--time-scale", "0.1"])
        try await eventually("the ends of both connections") {
            program.output.matches(of: #/"event":"closed"/#).count == 2
        }
        program.signal(SIGINT)
        #expect(try await program.exitStatus() == 0)
        func decoded(_ name: String) async throws -> String {
            try await Program.run("frametap", ["decode", files.path(name), "--as", "ndjson"])
        }
        let live = try Self.comparable(program.output)
        #expect(live.lines.values.reduce(0) { $0 + $1.count } > 20)
        #expect(try Self.comparable(files.text("trace.ndjson")) == live)
        #expect(live.differences(to: try Self.comparable(try await decoded("own.pcapng"))) == [])
        // The packets are unchanged: each with its length and checksum.
        func packets(_ name: String) async throws -> [Substring] {
            try await Program.run("frametap", ["packets", files.path(name)]).split(separator: "\n")
                .compactMap { $0.firstMatch(of: #/"linkType":.*/#)?.0 }
        }
        let own = try await packets("own.pcapng")
        // It writes packets a moment after they were seen, and may not write the last ones at all.
        try await eventually("tcpdump has written as many") {
            // The last one may be torn.
            (try? await packets("other.pcap"))?.count ?? 0 >= own.count
        }
        other.signal(SIGTERM)
        #expect(try await other.exitStatus() == 0)
        #expect(try await packets("other.pcap") == own)
        let (left, right) = (
            try Self.withoutTimes(program.output), try Self.withoutTimes(try await decoded("other.pcap"))
        )
        #expect(left.lines == right.lines, "\(left.differences(to: right))")
        #expect(try files.mode("own.pcapng") == 0o600 && files.mode("trace.ndjson") == 0o600)
    }

    @Test(arguments: [SIGINT, SIGTERM]) func aGapIsRaisedThoughNothingPasses(signal: Int32) async throws {
        let files = try Folder()
        let format = try files.write(Array(Self.beats.utf8), to: "beats.yaml")
        let traffic = try await Traffic()
        let program = try await capture(
            traffic.server, ["--as", "ndjson", "--format", format, "--write", files.path("own.pcapng")])
        try await traffic.connect()
        try await traffic.send("beat")
        // The connection is open and silent; only time passes.
        _ = try await program.match(/"kind":"(heartbeat-gap)"/)
        program.signal(signal)
        #expect(try await program.exitStatus() == 0)
        let closed = try #require(try traceLines(program.output).first { $0.event == "closed" })
        #expect(closed["reason"] == "end-of-input")
        let decoded = try await Program.run(
            "frametap", ["decode", files.path("own.pcapng"), "--as", "ndjson", "--format", format])
        #expect(try Self.comparable(program.output).differences(to: Self.comparable(decoded)) == [])
    }

    private static let beats = """
        format: beats
        summary: Lines, some of them heartbeats
        framing: { rule: delimiter, end: "\\n" }
        body: text
        heartbeat: { when: body.text startsWith "beat", from: client, every: 100 ms, gap: 300 ms }
        """

    @Test func whatTheKernelDropsIsSaidAndMissing() async throws {
        let traffic = try await Traffic()
        let program = try await capture(
            traffic.server, ["--as", "ndjson", "--format", Traffic.format, "--buffer", "1MiB"])
        try await traffic.connect()
        try await traffic.send("before")
        _ = try await program.match(/"event":"(frame)"/)
        program.signal(SIGSTOP)
        try await eventually("it stops") {
            try String(contentsOfFile: "/proc/\(program.identifier)/stat", encoding: .utf8).contains(") T")
        }
        try await traffic.send(String(repeating: "x", count: 999), count: 8_000)
        program.signal(SIGCONT)
        // It has caught up when it reports that; data sent then is seen.
        let said = try await program.match(/the kernel dropped ([\d,]+) packet/, inErrors: true)
        // Data after a gap may be the end of a line: a whole line follows.
        try await traffic.send("around")
        try await traffic.send("behind")
        try await traffic.close()
        _ = try await program.match(/"event":"(closed)"/)
        program.signal(SIGINT)
        #expect(try await program.exitStatus() == 0)
        let trace = try traceLines(program.output)
        let summary = try #require(trace.last)
        #expect(summary.event == "summary" && said != "0")
        #expect(summary.number("dropped by the kernel", of: "skipped") ?? 0 > 0, "\(summary.text)")
        let closed = try #require(trace.first { $0.event == "closed" })
        #expect(closed.number("missing", of: "client") ?? 0 > 0)
        #expect(closed.number("bytes", of: "client") == 7 + 8_000 * 1_000 + 14)
        #expect(trace.contains { $0.text.contains(#""text":"behind"#) })
    }

    @Test func anyIsAllInterfaces() async throws {
        try needPermission()
        let traffic = try await Traffic()
        let program = try Program(
            "frametap",
            ["capture", "any", "--bpf", "tcp port \(traffic.server)", "--as", "ndjson", "--format", Traffic.format])
        _ = try await program.match(/(capturing) on any/, inErrors: true)
        try await traffic.connect()
        try await traffic.send("once")
        try await traffic.close()
        _ = try await program.match(/"event":"(closed)"/)
        program.signal(SIGINT)
        #expect(try await program.exitStatus() == 0)
        let closed = try #require(try traceLines(program.output).first { $0.event == "closed" })
        #expect(closed.number("bytes", of: "client") == 5 && closed.number("frames", of: "client") == 1)
    }

    @Test func whatWasSeenASecondBeforeACrashIsThere() async throws {
        let files = try Folder()
        let traffic = try await Traffic()
        let program = try await capture(
            traffic.server,
            ["--as", "none", "--format", Traffic.format, "--write", files.path("a.pcapng"), "--trace"]
                + [files.path("a.ndjson")])
        try await traffic.connect()
        try await traffic.send("early", count: 50)
        // A line may be torn while it is written, and so may a packet.
        try await eventually("what passed is on the disk") {
            files.text("a.ndjson").matches(of: /"text":"early".*\n/).count == 50
                && String(decoding: files.bytes("a.pcapng"), as: UTF8.self).matches(of: /early\n/).count >= 50
        }
        program.signal(SIGKILL)
        #expect(try await program.exitStatus() == -SIGKILL)
        // Neither is torn here: everything that was seen had been written.
        let decoded = try await Program.run(
            "frametap", ["decode", "--as", "ndjson", "--format", Traffic.format, files.path("a.pcapng")])
        for text in [decoded, files.text("a.ndjson")] {
            #expect(try traceLines(text).count { $0.text.contains(#""text":"early"#) } == 50)
        }
    }

    @Test func outputThatNobodyReadsDoesNotKeepItFromEnding() async throws {
        let traffic = try await Traffic()
        let script = """
            import array, fcntl, os, signal, subprocess, sys, termios, time
            reader, writer = os.pipe()
            child = subprocess.Popen(sys.argv[1:], stdout=writer, stderr=sys.stderr)
            waiting = array.array("i", [0])
            while waiting[0] < 50000:
                fcntl.ioctl(reader, termios.FIONREAD, waiting)
                time.sleep(0.01)
            child.send_signal(signal.SIGINT)
            start = time.monotonic()
            code = child.wait()
            print(f"{code} after {time.monotonic() - start}")
            """
        try needPermission()
        let program = try Program(
            "python3",
            ["-c", script, try Program.find("frametap").path, "capture", "lo", "--bpf", "tcp port \(traffic.server)"]
                + ["--format", Traffic.format, "--trace", "/dev/null"])
        _ = try await program.match(/(capturing) on lo/, inErrors: true)
        try await traffic.connect()
        try await traffic.send(String(repeating: "x", count: 100), count: 5_000)
        #expect(try await program.exitStatus() == 0)
        #expect(program.output.hasPrefix("0 after "), "\(program.output)\(program.errors)")
        let seconds = try #require(program.output.split(separator: " ").last.flatMap { Double($0.dropLast()) })
        // Or it would wait for ever.
        #expect(seconds < 20)
        #expect(program.errors.contains("its reader has stopped reading"), "\(program.errors)")
    }

    @Test func itEndsWhenThereIsEnough() async throws {
        let traffic = try await Traffic()
        let program = try await capture(traffic.server, ["--format", Traffic.format, "--count", "2"])
        try await traffic.connect()
        try await traffic.send("one")
        try await traffic.send("two")
        #expect(try await program.exitStatus() == 0)
    }

    @Test func withoutPermissionTheCommandThatGivesItIsShown() async throws {
        // Not even root may then: the capabilities are dropped for the program.
        let script = """
            import ctypes, os, sys
            for permission in (12, 13):  # CAP_NET_ADMIN, CAP_NET_RAW
                ctypes.CDLL(None).prctl(24, permission, 0, 0, 0)  # PR_CAPBSET_DROP
            os.execv(sys.argv[1], sys.argv[1:])
            """
        let path = try Program.find("frametap").resolvingSymlinksInPath().path
        let program = try Program("python3", ["-c", script, path, "capture", "lo", "--bpf", "tcp port 1"])
        #expect(try await program.exitStatus() == 2)
        #expect(program.errors.hasPrefix("frametap: cannot capture on lo: "), "\(program.errors)")
        #expect(program.errors.contains("\n  sudo setcap cap_net_raw,cap_net_admin+eip \(path)\n"), "\(program.errors)")
        #expect(program.errors.contains("\n  sudo \(path) capture lo --bpf 'tcp port 1'\n"), "\(program.errors)")
    }

    @Test func whatCannotBeIsAnErrorInWords() async throws {
        let filter = try Program("frametap", ["capture", "lo", "--bpf", "tcp prot 80"])
        #expect(try await filter.exitStatus() == 64)
        #expect(filter.errors.contains("syntax error; expected a filter as tcpdump takes it"), "\(filter.errors)")
        let unknown = try Program("frametap", ["capture", "nosuch0"])
        #expect(try await unknown.exitStatus() == 2)
        #expect(unknown.errors.contains("there is no interface nosuch0; there are "), "\(unknown.errors)")
        let none = try Program("frametap", ["capture"])
        #expect(try await none.exitStatus() == 64)
        let keep = try Program("frametap", ["capture", "lo", "--keep", "3"])
        #expect(try await keep.exitStatus() == 64)
    }

    @Test func interfacesAreListed() async throws {
        let lines = try await Program.run("frametap", ["capture", "--list-interfaces"]).split(separator: "\n")
        let loopback = try #require(lines.first { $0.hasPrefix("lo ") })
        #expect(loopback.contains("up, loopback") && loopback.contains("127.0.0.1"), "\(loopback)")
    }
}

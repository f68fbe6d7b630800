import Foundation
import Testing

/// The last line of a terminal, as a program sees it that is the terminal.
@Suite struct StatusLineTests {
    /// Runs a program with standard output and standard error on a terminal, and returns the terminal's input.
    private static let terminal = """
        import fcntl, os, pty, struct, sys, termios
        primary, secondary = pty.openpty()
        fcntl.ioctl(secondary, termios.TIOCSWINSZ, struct.pack("HHHH", 24, int(sys.argv[1]), 0, 0))
        child = os.fork()
        if child == 0:
            os.dup2(secondary, 1)
            os.dup2(secondary, 2)
            os.execv(sys.argv[2], sys.argv[2:])
        os.close(secondary)
        print(f"child {child}", file=sys.stderr, flush=True)
        while True:
            try:
                data = os.read(primary, 65536)
            except OSError:
                break
            if not data:
                break
            os.write(1, data)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        """

    private func run(_ arguments: [String], columns: Int) async throws -> String {
        let traffic = try await Traffic()
        let program = try Program(
            "python3",
            [
                "-c", Self.terminal, "\(columns)", try Program.find("frametap").path, "proxy", "--listen",
                "127.0.0.1:0",
                "--to", "127.0.0.1:\(traffic.server)", "--format", Traffic.format,
            ] + arguments, environment: ["TERM": "xterm"])
        let child = try #require(Int32(try await program.match(/child (\d+)\n/, inErrors: true)))
        let port = try #require(Int(try await program.match(/listening on 127\.0\.0\.1:(\d+)\r\n/)))
        try await traffic.connect(to: port)
        for number in 1...5 {
            try await traffic.send("line \(number)")
            _ = try await program.match(try Regex("(line \(number))", as: (Substring, Substring).self))
        }
        if arguments.isEmpty { _ = try await program.match(/(1 of 1 connection open)/) }
        kill(child, SIGTERM)
        #expect(try await program.exitStatus() == 0)
        return program.output
    }

    /// The final content of the terminal's screen, all lines.
    private func screen(_ output: String) -> [String] {
        var lines: [[Unicode.Scalar]] = [[]]
        var column = 0
        for scalar in output.replacing("\u{1b}[K", with: "\u{7f}").unicodeScalars {
            let last = lines.count - 1
            switch scalar {
            case "\n":
                lines.append([])
                column = 0
            case "\r": column = 0
            case "\u{7f}": lines[last] = Array(lines[last].prefix(column))
            default:
                if column < lines[last].count { lines[last][column] = scalar } else { lines[last].append(scalar) }
                column += 1
            }
        }
        return lines.map { String(String.UnicodeScalarView($0)) }
    }

    @Test func itNeverMixesWithLines() async throws {
        let output = try await run(["--color", "never"], columns: 200)
        let lines = screen(output)
        #expect(output.contains("connections open, ") || output.contains("connection open, "))
        #expect(lines.allSatisfy { !$0.contains("frames/s") }, "\(lines)")
        #expect(lines.count { $0.contains(" line ") } == 5)
    }

    @Test func itIsNoWiderThanTheTerminal() async throws {
        let output = try await run([], columns: 30)
        let drawn = output.matches(of: #/\r([^\r\n\e]*(?:of \d+ connection)[^\r\n\e]*)\e\[K/#).map { $0.1 }
        #expect(!drawn.isEmpty && drawn.allSatisfy { $0.count <= 29 }, "\(drawn)")
    }

    @Test func itCanBeLeftOut() async throws {
        let output = try await run(["--no-status"], columns: 100)
        #expect(!output.contains("frames/s"))
    }
}

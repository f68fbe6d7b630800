import TestSupport
import Testing

/// Values of options: units, and what is said of values that cannot be read.
@Suite struct OptionValueTests {
    private static let capture = Example(name: "modbus").capturePath

    @Test(arguments: [
        (["decode", capture, "--idle-timeout", "soon"], "expected a time such as 500ms, 2s or 5min"),
        (["decode", capture, "--memory-limit", "much"], "expected a number of bytes such as 4096, 64KiB or 100MB"),
        (["send", "line", "--to", "8088"], "expected a host and a port such as chat.example.com:8088"),
        (
            ["proxy", "--listen", "127.0.0.1:0", "--to", "h:1", "--rotate", "x"],
            "expected a size, a time, or both: 100MB, 1h"
        ),
        (["proxy", "--listen", "127.0.0.1:0", "--to", "h:1", "--drain", "1x"], "expected a time such as 500ms"),
        (
            ["proxy", "--listen", "127.0.0.1:0", "--to", "h:1", "--connect-timeout", "0"],
            "--connect-timeout is 0; expected a time"
        ),
        (
            ["proxy", "--listen", "127.0.0.1:0", "--to", "h:1", "--keep-alive", "500ms"],
            "--keep-alive is 500ms; expected 1s to 32767s"
        ),
        (
            ["decode", capture, "--format", "line", "--format", "chunk"],
            "--format line and --format chunk: expected one without a port"
        ),
        (
            ["decode", capture, "--format", "9100=line", "--format", "9100=chunk"],
            "--format 9100=chunk: port 9100 has a format already"
        ),
        (["decode", capture, "--grep", "a", "--grep", "b"], "--grep is given 2 times"),
        (["decode", capture, "--heartbeat", "every: 2 s", "--heartbeat", "gap: 6 s"], "--heartbeat is given 2 times"),
        (["decode", capture, "--fail-on", ""], "--fail-on '' names no kind; known are "),
        (["decode", capture, "--fail-on", "unframed", "--fail-on", " ,"], "--fail-on ' ,' names no kind; known are "),
        (["proxy", "--listen", "127.0.0.1:0", "--to", "h:1", "--rotate", "100"], "found '100'"),
        (["proxy", "--listen", "127.0.0.1:0", "--to", "h:1", "--rotate", "2KX,2s"], "found '2KX'"),
        (["decode", capture, "--from", "server"], "to show what one side sent: --filter 'from == server'"),
        (["decode", capture, "--since", "2026-02-30T00:00:00Z"], "expected a time such as 2026-11-21T08:00:00Z"),
        (
            ["decode", capture, "--since", "2026-11-21 10:00:00Z", "--until", "2026-11-21T10:00:00+00:00"],
            "there is nothing between them"
        ),
    ])
    func wrongValuesAreExplained(arguments: [String], expected: String) throws {
        let result = try Program.run("frametap", arguments)
        #expect(result.status == 64)
        #expect(result.errors.contains(expected), "\(result.errors)")
    }

    /// A number alone is in seconds.
    @Test(arguments: ["5", "5s", "5000ms", "0", "1.5h", "2m", "1h30m"]) func timesHaveUnitsOrNone(time: String) throws {
        let result = try Program.run("frametap", ["decode", Self.capture, "--as", "summary", "--idle-timeout", time])
        #expect(result.status == 0, "\(result.errors)")
    }

    @Test func defaultsAreShownExactly() throws {
        let help = try Program.run("frametap", ["torture", "--help"]).text
        #expect(help.contains("(default: 200ms)"), "\(help)")
    }
}

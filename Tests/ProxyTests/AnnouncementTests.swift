import Foundation
import TestSupport
import Testing

/// Whoever reads that a program listens may end it immediately.
@Suite struct AnnouncementTests {
    /// Starts a program and ends it with its announcement, several times.
    private static let script = """
        import subprocess, sys
        for _ in range(10):
            program = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
            for line in program.stderr:
                if b"listening on" in line:
                    program.terminate()
                    break
            try:
                status = program.wait(20)
            except subprocess.TimeoutExpired:
                program.kill()
                sys.exit("the signal was lost")
            if status != 0:
                sys.exit(f"ended with {status}")
        """

    @Test(arguments: [
        ["proxy", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:9", "--as", "none"],
        ["serve", "line", "--listen", "127.0.0.1:0"],
    ])
    func aSignalRightAfterItIsNotLost(command: [String]) async throws {
        let path = try Program.find("frametap").path
        let runs = try Program("python3", ["-c", Self.script, path] + command)
        #expect(try await runs.exitStatus() == 0, "\(runs.errors)")
    }
}

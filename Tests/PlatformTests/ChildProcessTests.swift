import Platform
import Testing

/// Programs that this one starts.
@Suite struct ChildProcessTests {
    /// The status of a shell command, and what it wrote to its errors.
    private func run(_ command: String, kill: Bool = false) throws -> (status: Int32, errors: String) {
        let errors = try TemporaryFile()
        let child = try ChildProcess(["sh", "-c", command], errors: errors.descriptor)
        if kill { child.kill() }
        let status = child.wait()
        child.kill()
        return (status, String(decoding: errors.end(1_000), as: UTF8.self))
    }

    @Test func statusAndErrorsAreThoseOfTheProgram() throws {
        #expect(try run("exit 0") == (0, ""))
        #expect(try run("echo lost; echo why >&2; exit 3") == (3, "why\n"))
        #expect(try run("kill -TERM $$").status == -SIGTERM)
    }

    @Test func theEndOfManyErrorsIsKept() throws {
        let errors = try run("for i in $(seq 1 2000); do echo line $i >&2; done").errors
        #expect(errors.utf8.count == 1_000 && errors.hasSuffix("line 1999\nline 2000\n"))
    }

    @Test func killingEndsWhatItStarted() throws {
        let start = ContinuousClock.now
        #expect(try run("sleep 600 & wait", kill: true).status == -SIGKILL)
        #expect(ContinuousClock.now - start < .seconds(300))
    }

    /// A program gets no open files, and reacts to signals as usual, though this one may ignore some.
    @Test func nothingIsInherited() throws {
        let held = open("/dev/null", O_RDONLY)
        defer { close(held) }
        #expect(try run("test ! -e /dev/fd/\(held) || echo \(held) is open >&2").errors == "")
        let before = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, before) }
        #expect(try run("kill -PIPE $$; echo ignored >&2") == (-SIGPIPE, ""))
    }

    @Test func aProgramThatIsNotThereIsReported() {
        let error = #expect(throws: ChildProcess.Failure.self) { try ChildProcess(["/no/such/program"]) }
        #expect(error?.description == "cannot start /no/such/program: No such file or directory")
        #expect(throws: ChildProcess.Failure.self) { try ChildProcess([]) }
    }
}

import Testing

@testable import Torture

/// The command of a client.
@Suite struct ClientProcessTests {
    /// With what it has started.
    @Test(.timeLimit(.minutes(1))) func oneThatDoesNotEndIsKilled() async throws {
        let client = ClientProcess(command: "sleep 600 # {port}")
        let exit = try await client.run(host: "", port: 1, atMost: .milliseconds(200))
        #expect(exit.isTimedOut && exit.status == -9 && exit.took < .seconds(50), "\(exit)")
    }

    @Test func oneThatEndsIsNot() async throws {
        let client = ClientProcess(command: "echo {host} {port} >&2; exit 3")
        let exit = try await client.run(host: "there", port: 7, atMost: .seconds(60))
        #expect(!exit.isTimedOut && exit.status == 3 && exit.errors == "there 7\n", "\(exit)")
    }
}

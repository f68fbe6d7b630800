import Foundation
import TestSupport
import Testing

/// `frametap proxy --tls intercept` behind every kind of listener.
@Suite struct TLSListenerTests {
    private let files: Identities

    init() throws { files = try Identities() }

    private func play(
        _ options: [String], _ arguments: (_ server: Int) -> [String]
    ) async throws -> (seen: Ends.Seen, trace: [TraceLine]) {
        let ends = try await Ends(arguments: ["tls", files.folder.url.path] + options, script: "tls.py")
        let tls = ["--format", "line", "--tls", "intercept", "--ca", files.authority] + files.trusting
        let proxy = try await ProxyProgram(arguments(ends.server) + tls)
        try ends.program.send("\(proxy.port)")
        let seen = try await ends.result()
        return (seen, try await proxy.stop())
    }

    /// The conversation was decrypted, and each side got what the other one sent.
    private func check(_ seen: Ends.Seen, _ trace: [TraceLine]) {
        #expect(seen["client got"] == "answer\n" && seen["server got"] == "question\n", "\(seen)")
        #expect(seen["issuer"].hasPrefix("frametap CA") && seen["server end"] == "clean", "\(seen)")
        #expect(trace.count { $0.event == "frame" } == 2)
        #expect(trace.contains { $0.event == "tls" && $0["decrypted"] == "intercepted" }, "\(trace.map(\.text))")
    }

    @Test func throughSOCKS() async throws {
        let (seen, trace) = try await play(["socks"]) { _ in ["--listen", "socks5://127.0.0.1:0"] }
        check(seen, trace)
    }

    @Test func afterAHeaderOfThePROXYProtocol() async throws {
        let (seen, trace) = try await play(["header"]) {
            ["--listen", "127.0.0.1:0", "--to", "127.0.0.1:\($0)", "--proxy-protocol", "in"]
        }
        check(seen, trace)
        #expect(trace.first { $0.event == "opened" }?["client"] == "192.0.2.1:1234")
    }

    #if os(Linux)
    @Test func whereAFirewallRedirectsTo() async throws {
        let tls = ["--tls", "intercept", "--ca", files.authority] + files.trusting
        let played = try await Redirection(in: files.folder, tls)
        #expect(played.said.prefix(2) == ["10.9.0.1 hello", "fd09::1 hello"], "\(played.output)")
        for number in [1, 2] {
            let connection = played.trace.filter { $0.connection == number }
            #expect(connection.contains { $0.event == "tls" && $0["decrypted"] == "intercepted" })
            #expect(connection.count { $0.event == "frame" } == 2, "\(connection.map(\.text))")
        }
    }
    #endif

    /// Ciphertext recorded between Unix sockets has addresses that stand for them.
    @Test func betweenUnixSockets() async throws {
        let (entrance, server) = ("unix:\(files.folder.path("in.sock"))", "unix:\(files.folder.path("out.sock"))")
        let wire = files.folder.path("wire.pcapng")
        let (seen, trace) = try await play(["unix"]) { _ in
            // The first listener is not used.
            ["--listen", "127.0.0.1:0", "--listen", entrance, "--to", server, "--to", server, "--write-tls", wire]
        }
        check(seen, trace)
        let legs = try traceLines(
            try await Program.run("frametap", ["decode", wire, "--format", "line", "--as", "ndjson"]))
        #expect(legs.count { $0.event == "frame" } == 4)
        let opened = legs.filter { $0.event == "opened" }.map { "\($0["client"] ?? "") \($0["server"] ?? "")" }
        #expect(
            opened.allSatisfy { $0.wholeMatch(of: /127\.85\.78\.88:\d{4,} 127\.85\.78\.88:[12]/) != nil }, "\(opened)")
        #expect(Set(opened).count == 2)
    }
}

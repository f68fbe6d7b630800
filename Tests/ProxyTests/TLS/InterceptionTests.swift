import Foundation
import TestSupport
import Testing

/// `frametap proxy --tls` between OpenSSL at both ends.
@Suite struct InterceptionTests {
    /// The files of the server and of both authorities.
    private let files: Identities

    init() throws { files = try Identities() }

    private struct Played {
        var seen: Ends.Seen
        var trace: [TraceLine]
        var proxy: ProxyProgram
    }

    /// Plays a scenario of `tls.py` through the proxy.
    private func play(
        _ scenario: String, _ options: [String] = [], mode: String = "intercept", _ arguments: [String] = []
    ) async throws -> Played {
        let ends = try await Ends(
            arguments: [scenario, files.folder.url.path] + options, script: "tls.py")
        let proxy = try await ProxyProgram(
            to: ends.server,
            (arguments.contains("--format") ? [] : ["--format", "line"]) + ["--tls", mode]
                + (mode == "pass" ? [] : ["--ca", files.authority]) + arguments)
        try ends.program.send("\(proxy.port)")
        let seen = try await ends.result()
        return Played(seen: seen, trace: try await proxy.stop(), proxy: proxy)
    }

    private var trusting: [String] { files.trusting }

    /// Frames without times, in order.
    private func frames(_ trace: [TraceLine]) -> [String] {
        trace.filter { $0.event == "frame" }.map { "\($0["from"] ?? "") \($0.text.split(separator: "\"offset\"")[1])" }
    }

    /// A key log that may not become longer ends with a whole line, and the error says why.
    @Test func aKeyLogThatIsFullIsNotCutOff() async throws {
        let keys = files.folder.path("keys")
        let ends = try await Ends(arguments: ["tls", files.folder.url.path, "1.3"], script: "tls.py")
        let proxy = try Program(
            "bash",
            [
                "-c", #"ulimit -f 1; exec "$0" "$@""#, try Program.find("frametap").path, "proxy", "--listen",
                "127.0.0.1:0", "--to", "127.0.0.1:\(ends.server)", "--format", "line", "--as", "none", "--tls",
                "intercept", "--ca", files.authority, "--key-log", keys,
            ] + trusting)
        let port = try await proxy.match(/listening on 127\.0\.0\.1:(\d+)/, inErrors: true)
        try ends.program.send(port)
        let seen = try await ends.result()
        #expect(seen["client got"] == "answer\n", "\(seen)")
        proxy.signal(SIGTERM)
        #expect(try await proxy.exitStatus() == 0, "\(proxy.errors)")
        #expect(proxy.errors.contains("cannot write \(keys): File too large; nothing more"), "\(proxy.errors)")
        #expect(proxy.errors.contains("\(keys) is not complete: "), "\(proxy.errors)")
        let text = files.folder.text("keys")
        #expect(text.hasSuffix("\n") && text.utf8.count > 500, "\(text)")
        #expect(text.split(separator: "\n").allSatisfy { $0.split(separator: " ").count == 3 }, "\(text)")
    }

    @Test(arguments: ["1.2", "1.3"]) func bothSidesAreDecrypted(version: String) async throws {
        let (keys, capture) = (files.folder.path("keys"), files.folder.path("wire.pcapng"))
        let records = ["--key-log", keys, "--write-tls", capture]
        let played = try await play("tls", [version], trusting + records)
        let seen = played.seen
        #expect(seen["client got"] == "answer\n" && seen["server got"] == "question\n", "\(seen)")
        // What the server chose is what the client gets; the certificate has the name that the client asked for, too.
        #expect(seen["client version"] == "TLSv\(version)" && seen["server version"] == "TLSv\(version)", "\(seen)")
        #expect(seen["server alpn"] == "two" && seen["client alpn"] == "two", "\(seen)")
        #expect(seen["names"].contains("chat.example.com") && seen["names"].contains("localhost"))
        #expect(seen["issuer"].hasPrefix("frametap CA") && seen["server end"] == "clean", "\(seen)")
        let tls = try #require(played.trace.first { $0.event == "tls" })
        #expect(tls["decrypted"] == "intercepted" && tls["version"] == "TLS \(version)", "\(tls.text)")
        #expect(tls["serverName"] == "chat.example.com" && tls["protocol"] == "two", "\(tls.text)")
        #expect(tls["suite"]?.hasPrefix("TLS_") == true && tls.text.contains("\"verified\":true"), "\(tls.text)")
        #expect(tls.text.contains("\"subject\":\"CN=localhost\""), "\(tls.text)")
        let live = frames(played.trace)
        #expect(live.count == 2)
        // The recording of the plaintext, and both legs' ciphertext, have the same frames.
        let decode = ["decode", "--format", "line", "--as", "ndjson"]
        let plain = try await Program.run("frametap", decode + [played.proxy.files.path("capture.pcapng")])
        #expect(frames(try traceLines(plain)) == live)
        let wire = try traceLines(try await Program.run("frametap", decode + [capture]))
        for connection in [1, 2] {
            #expect(frames(wire.filter { $0.connection == connection }) == live, "leg \(connection)")
        }
        #expect(wire.count { $0.event == "tls" && $0["decrypted"] == "keys" } == 2)
        let closed = wire.filter { $0.event == "closed" }
        #expect(closed.map { $0["reason"] } == ["fin", "fin"], "\(closed.map(\.text))")
        // The key log alone decrypts them as well.
        let logged = try await Program.run(
            "frametap", decode + ["--key-log", keys, capture])
        #expect(frames(try traceLines(logged)).count == 4)
        let untouched = try await Program.run("frametap", decode + ["--no-decrypt", capture])
        #expect(try traceLines(untouched).allSatisfy { $0.event != "tls" })
    }

    /// Both ends' bytes come one by one: handshakes go on however they are cut.
    @Test(arguments: ["1.2", "1.3"]) func segmentationDoesNotMatter(version: String) async throws {
        let played = try await play("tls", ["cut", version], trusting)
        #expect(played.seen["client got"] == "answer\n" && played.seen["server got"] == "question\n", "\(played.seen)")
        #expect(
            played.trace.contains { $0.event == "tls" && $0["version"] == "TLS \(version)" },
            "\(played.trace.map(\.text))")
    }

    /// Whatever clients send as a hello, the next one is served.
    @Test func hostileHellosEndOnlyTheirConnections() async throws {
        let played = try await play("hostile", [], trusting)
        #expect(played.seen["client got"] == "answer\n" && played.seen["server got"] == "question\n", "\(played.seen)")
        let numbers = Set(played.trace.filter { $0.event == "opened" }.map(\.connection))
        let closed = Set(played.trace.filter { $0.event == "closed" }.map(\.connection))
        #expect(numbers.count > 64 && closed == numbers, "\(numbers.count)")
    }

    @Test func bytesThatAreNoTLSAfterTheHandshake() async throws {
        let played = try await play("tls", ["garbage"], trusting)
        #expect(played.seen["client got"] == "answer\n" && played.seen["server got"] == "question\n", "\(played.seen)")
        let finding = try #require(played.trace.first { $0.event == "finding" })
        #expect(
            finding["message"]?.hasPrefix("the TLS connection with the client broke: what it sent is not TLS") == true,
            "\(finding.text)")
        #expect(played.trace.contains { $0.event == "closed" && $0["reason"] == "tls-failed" && $0["by"] == "client" })
    }

    /// Files without certificates and keys end the program before a client connects.
    @Test func filesAreCheckedAtTheStart() async throws {
        let empty = try files.folder.write([], to: "empty")
        let (certificate, key) = (files.folder.path("server.crt"), files.folder.path("ca.key"))
        for (arguments, text) in [
            (["--server-ca", empty], "\(empty) has no certificate; expected PEM"),
            (["--client-cert", empty], "\(empty) has no private key"),
            (["--client-cert", "\(certificate),\(key)"], "\(key) does not have the key of the certificate"),
        ] {
            let program = try Program(
                "frametap", ["proxy", "--listen", "127.0.0.1:0", "--to", "localhost:1", "--tls", "client"] + arguments)
            #expect(try await program.exitStatus() == 2)
            #expect(program.errors.contains(text), "\(program.errors)")
        }
    }

    /// A server that speaks TLS 1.2 at most: its client is not offered more.
    @Test func theServersVersionIsTheClients() async throws {
        let played = try await play("tls", ["server-1.2", "no-alpn"], trusting)
        #expect(played.seen["client version"] == "TLSv1.2" && played.seen["client alpn"] == "nothing", "\(played.seen)")
        #expect(played.seen["client got"] == "answer\n", "\(played.seen)")
    }

    @Test(arguments: ["plain", "greeting"]) func whatIsNotTLSIsRelayed(scenario: String) async throws {
        let played = try await play(scenario, [], trusting)
        #expect(played.seen["client got"] == "answer\n" && played.seen["server got"] == "question\n", "\(played.seen)")
        if scenario == "greeting" { #expect(played.seen["greeting"] == "220 hello\n") }
        #expect(!played.trace.contains { $0.event == "tls" } && !frames(played.trace).isEmpty)
    }

    /// A conversation that changes to TLS where its format says so.
    @Test(arguments: [false, true]) func anUpgradeInTheMiddleIsIntercepted(writesWire: Bool) async throws {
        let format = try files.folder.write(Array(StartTLS.yaml.utf8), to: "starttls.yaml")
        let wire = files.folder.path("wire.pcapng")
        let played = try await play(
            "starttls", [], trusting + ["--format", format] + (writesWire ? ["--write-tls", wire] : []))
        let seen = played.seen
        #expect(seen["client got"] == "answer\n" && seen["server got"] == "question\n", "\(seen)")
        #expect(seen["issuer"].hasPrefix("frametap CA") && seen["client alpn"] == "two", "\(seen)")
        let types = played.trace.filter { $0.event == "frame" }.map { "\($0.from) \($0["type"] ?? "")" }
        #expect(
            types == ["server line", "client STARTTLS", "server line", "client line", "server line"], "\(types)")
        #expect(!played.trace.contains { $0["kind"] == "tls-failed" }, "\(played.trace.map(\.text))")
        // The recording says that its plaintext was TLS: lines are equal, that of TLS included.
        let capture = played.proxy.files.path("capture.pcapng")
        let offline = try traceLines(
            try await Program.run("frametap", ["decode", capture, "--format", format, "--as", "ndjson"]))
        for event in ["tls", "frame", "closed"] {
            let (live, decoded) = (played.trace.filter { $0.event == event }, offline.filter { $0.event == event })
            #expect(live.map(\.text) == decoded.map(\.text) && !live.isEmpty)
        }
        guard writesWire else { return }
        // Both connections are recorded from their beginning.
        let legs = try traceLines(
            try await Program.run("frametap", ["decode", wire, "--format", format, "--as", "ndjson"]))
        for leg in [1, 2] {
            #expect(
                frames(legs.filter { $0.connection == leg }) == frames(played.trace), "leg \(leg): \(legs.map(\.text))")
        }
        #expect(legs.count { $0.event == "tls" && $0["decrypted"] == "keys" } == 2)
    }

    /// It is not passed on, but recorded.
    @Test(arguments: [false, true]) func plaintextAfterARequestForTLSEndsTheConnection(writesWire: Bool) async throws {
        let format = try files.folder.write(Array(StartTLS.yaml.utf8), to: "starttls.yaml")
        let wire = files.folder.path("wire.pcapng")
        let played = try await play(
            "injected", [], trusting + ["--format", format] + (writesWire ? ["--write-tls", wire] : []))
        #expect(played.seen["server got"] != "injected\n" && played.seen["server was asked"] != "STARTTLS\n")
        let offline = try traceLines(
            try await Program.run(
                "frametap",
                ["decode", played.proxy.files.path("capture.pcapng"), "--format", format, "--as", "ndjson"]))
        for trace in [played.trace, offline] {
            let types = trace.filter { $0.event == "frame" && $0["from"] == "client" }.map { $0["type"] }
            #expect(types == ["STARTTLS", "line"], "\(trace.map(\.text))")
            let findings = trace.filter { $0.event == "finding" && $0["kind"] == "tls-failed" }
            #expect(findings.count == 1 && findings.first?["message"]?.contains("CVE-2021-23222") == true)
            let closed = try #require(trace.first { $0.event == "closed" })
            #expect(closed["reason"] == "tls-failed" && closed["by"] == "client", "\(closed.text)")
        }
        guard writesWire else { return }
        // The server's connection has none of it.
        let legs = try traceLines(
            try await Program.run("frametap", ["decode", wire, "--format", format, "--as", "ndjson"]))
        #expect(legs.count { $0.event == "frame" && $0["type"] == "STARTTLS" } == 1, "\(legs.map(\.text))")
    }

    @Test func onlyOneSideMaySpeakTLS() async throws {
        let outwards = try await play("from-plain", [], mode: "client", trusting)
        #expect(outwards.seen["client got"] == "answer\n" && outwards.seen["server got"] == "question\n")
        #expect(outwards.trace.contains { $0.event == "tls" && $0["decrypted"] == "intercepted" })
        let inwards = try await play("to-plain", [], mode: "server")
        #expect(
            inwards.seen["client got"] == "answer\n" && inwards.seen["server got"] == "question\n", "\(inwards.seen)")
        #expect(inwards.seen["names"] == "chat.example.com", "\(inwards.seen)")
    }

    @Test(arguments: ["pass", "intercept"]) func whatIsPassedIsUntouched(mode: String) async throws {
        let ignored = mode == "pass" ? [] : ["--ignore-host", "*.example.com"]
        let played = try await play("tls", ["own-ca"], mode: mode, ignored)
        #expect(played.seen["client got"] == "answer\n" && played.seen["issuer"] == "Test CA", "\(played.seen)")
        let tls = try #require(played.trace.first { $0.event == "tls" })
        #expect(tls.text.contains("\"decrypted\":null") && tls["serverName"] == "chat.example.com", "\(tls.text)")
        #expect(tls["version"] == "TLS 1.3" && tls["clientRandom"]?.count == 64, "\(tls.text)")
    }

    /// A client that trusts other authorities, or pins a certificate.
    @Test(arguments: ["1.2", "1.3"]) func aClientThatRefusesIsReported(version: String) async throws {
        let played = try await play("tls", ["own-ca", version], trusting)
        #expect(played.seen["client error"] != "nothing", "\(played.seen)")
        let finding = try #require(played.trace.first { $0.event == "finding" })
        #expect(
            finding["kind"] == "tls-failed" && finding["message"]?.contains("unknown_ca") == true, "\(finding.text)")
        #expect(finding["message"]?.contains("probably pins its certificate") == true, "\(finding.text)")
        let closed = try #require(played.trace.first { $0.event == "closed" })
        #expect(closed["reason"] == "tls-failed" && closed["by"] == "client", "\(closed.text)")
    }

    /// A server whose certificate is not accepted: the client gets an alert.
    @Test(arguments: [
        ([], "it was issued by an unknown authority (CN=Test CA)"),
        (["name-other.example"], "it is not for other.example, but for localhost, chat.example.com"),
    ])
    func aServerIsVerified(options: [String], reason: String) async throws {
        let arguments = options.isEmpty ? [] : ["--server-ca", files.folder.path("ca.crt")]
        let played = try await play("tls", options, arguments)
        #expect(played.seen["client error"].lowercased().contains("alert"), "\(played.seen)")
        let finding = try #require(played.trace.first { $0.event == "finding" })
        #expect(finding["message"]?.contains(reason) == true, "\(finding.text)")
        #expect(played.trace.contains { $0.event == "closed" && $0["reason"] == "tls-failed" && $0["by"] == "server" })
        let accepted = try await play("tls", options, ["--insecure-server"])
        #expect(accepted.seen["client got"] == "answer\n", "\(accepted.seen)")
        #expect(accepted.trace.contains { $0.event == "tls" && $0.text.contains("\"verified\":false") })
    }

    /// A name that no certificate can have: the server is not asked for anything.
    @Test func aNameThatIsNoHostIsRefusedWithAnAlert() async throws {
        let played = try await play("tls", ["name-*.example.com"], trusting)
        #expect(played.seen["client error"].lowercased().contains("alert"), "\(played.seen)")
        let closed = try #require(played.trace.first { $0.event == "closed" })
        #expect(closed["reason"] == "tls-failed" && closed["by"] == "client", "\(closed.text)")
        let finding = try #require(played.trace.first { $0.event == "finding" })
        let reason = #"no certificate for \"*.example.com\": the name has a wildcard; expected the name of one server"#
        #expect(finding.text.contains(reason), "\(finding.text)")
    }

    @Test(arguments: ["1.2", "1.3"]) func aServerMayAskForACertificate(version: String) async throws {
        let files = files.folder
        let refused = try await play("tls", ["client-cert", version], trusting)
        let finding = try #require(refused.trace.first { $0.event == "finding" && $0["kind"] == "tls-failed" })
        #expect(
            finding["message"]?.contains(": it requires a client certificate (--client-cert)") == true,
            "\(finding.text)")
        let identity = ["--client-cert", "\(files.path("server.crt")),\(files.path("server.key"))"]
        let wire = files.path("wire.pcapng")
        let options = ["client-cert", version, "has-cert"]
        let played = try await play("tls", options, trusting + identity + ["--write-tls", wire])
        #expect(played.seen["client got"] == "answer\n", "\(played.seen)")
        // The client was asked for one, too. Its secrets precede the packets that need them.
        let legs = try traceLines(
            try await Program.run("frametap", ["decode", wire, "--format", "line", "--as", "ndjson"]))
        for leg in [1, 2] {
            #expect(frames(legs.filter { $0.connection == leg }) == frames(played.trace), "leg \(leg)")
        }
        let tshark = try await Program.run(
            "tshark",
            // A port may be another protocol's.
            ["-o", "tcp.try_heuristic_first:TRUE", "-r", wire, "-Y", "tls.app_data", "-T", "fields", "-e", "data.data"])
        let lines = tshark.split(separator: "\n").filter { $0.contains("0a") }
        #expect(lines.count == 4, "\(tshark)")
    }

    /// Each end's way to end the connection reaches the other end as what it is.
    @Test(arguments: ["clean", "truncated", "reset"], [true, false])
    func endsArePassedOnAsWhatTheyAre(ending: String, byServer: Bool) async throws {
        for version in ["1.2", "1.3"] {
            let played = try await play(
                "tls", ["end-\(ending)", version] + (byServer ? ["server-ends"] : []), trusting)
            let other = byServer ? "client end" : "server end"
            #expect(played.seen[other] == ending, "\(version) \(played.seen)")
            let truncations = played.trace.filter { $0.event == "finding" && $0["kind"] == "tls-truncated" }
            let side = byServer ? "server" : "client"
            #expect(
                truncations.contains { $0["from"] == side } == (ending == "truncated"),
                "\(version) \(played.trace.map(\.text))")
        }
    }
}

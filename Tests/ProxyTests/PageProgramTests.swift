import Foundation
import TestSupport
import Testing

/// `proxy --web`: a page beside a proxy, with a real client and a real server.
@Suite struct PageProgramTests {
    @Test(arguments: ["line", "auto"]) func aPageSeesAndActs(format: String) async throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("page.py")
        let client = try Program("python3", [script.path])
        let server = try #require(Int(try await client.match(/server (\d+)\n/)))
        let proxy = try await ProxyProgram(
            to: server,
            ["--web", "127.0.0.1:0", "--as", "none", "--format", format == "auto" ? "\(server)=line" : format])
        let address = try await proxy.program.match(/page at (http:[^\n]+)\n/, inErrors: true)
        try client.send("\(address) \(proxy.port)")
        let ended = try await client.exitStatus()
        #expect(ended == 0, "\(client.errors)")
        let line = try #require(client.output.split(separator: "\n").last)
        let seen = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        func list(_ key: String) -> [AnyHashable] { seen[key] as? [AnyHashable] ?? [] }
        func text(_ key: String) -> String { seen[key] as? String ?? "" }

        // Who may see it.
        #expect(list("welcome") == [303, "/", 1, 1])
        #expect(list("without cookie") == [403, 403, 403] && seen["wrong host"] as? Int == 403)
        #expect(list("page") == [200, "text/html; charset=utf-8"])
        let headers = try #require(seen["headers"] as? [String: String])
        #expect(headers["content-security-policy"]?.contains("frame-ancestors 'none'") == true)
        #expect(headers["content-security-policy"]?.hasPrefix("default-src 'none'; script-src 'self';") == true)
        #expect(headers["x-content-type-options"] == "nosniff" && headers["referrer-policy"] == "no-referrer")
        #expect(headers["cross-origin-opener-policy"] == "same-origin" && headers["cache-control"] == "no-store")
        #expect(list("foreign sockets") == [403, 403, 403] && seen["socket"] as? Int == 101)

        #expect(seen["judged by its head"] as? Int == 403 && seen["unfinished ends"] as? Bool == true)
        #expect(seen["limit"] as? Bool == true && text("still relayed") == "echo still relayed\n")
        #expect(text("save closes") == "close" && seen["head alone"] as? Bool == true)

        // What it sees.
        #expect(text("answer") == "echo hello\n" && list("news") == [0, 2, 1])
        #expect(seen["rows"] as? [[String]] == [["client", "end=\n “hello”"], ["server", "end=\n “echo hello”"]])

        // What it does.
        #expect(seen["state"] as? Bool == true && list("listener") == [1, 0, 0])
        #expect(seen["not json"] as? Int == 415 && seen["foreign"] as? Int == 403)
        #expect(seen["bad condition"] as? Int == 400)
        #expect(list("held") == [1, "client", "stop me"] && seen["not passed"] as? Bool == true)
        #expect(seen["switched"] as? Bool == true && seen["deadline"] as? Bool == true && list("complaints").isEmpty)
        // A decision that was not possible leaves its frame stopped; one about another frame is none.
        func refused(_ key: String, _ status: Int, _ reason: String) -> Bool {
            guard let pair = seen[key] as? [Any] else { return false }
            return pair.first as? Int == status && (pair.last as? String)?.contains(reason) == true
        }
        #expect(refused("not encoded", 400, "no field none") && refused("other index", 409, "is not held"))
        #expect(seen["still held"] as? Int == 1 && refused("decided twice", 409, "is not held"))
        // News come also if nothing is new.
        #expect(seen["quiet"] as? Bool == true)
        #expect(text("changed") == "echo changed\n" && text("server got") == "changed\n")
        #expect(seen["nothing held"] as? Bool == true && text("injected") == "echo injected\n")
        #expect(list("actions") == ["break", "replace", "inject"])
        #expect(list("rules") == ["drop: body.text == \"lost\"; from: client"] && text("dropped") == "echo found\n")
        #expect(seen["opens none"] as? Int == 404)
        #expect(list("ten pages") == [10, 1] && text("capture") == "0a0d0d0a")

        // What passed is in the trace, too.
        let lines = try await proxy.stop()
        #expect(lines.contains { $0.event == "action" && $0["action"] == "replace" })
    }

    @Test func clientsOfTheProxyDoNotReachThePage() async throws {
        let proxy = try Program("frametap", ["proxy", "--listen", "socks5://127.0.0.1:0", "--web", "127.0.0.1:0"])
        let port = try await proxy.match(/listening on 127\.0\.0\.1:(\d+)/, inErrors: true)
        let page = try await proxy.match(/page at http:\/\/127\.0\.0\.1:(\d+)/, inErrors: true)
        let client = try Program(
            "python3",
            [
                "-c",
                """
                import socket
                s = socket.create_connection(("127.0.0.1", \(port)), timeout=20)
                s.sendall(bytes([5, 1, 0]))
                s.recv(2)
                s.sendall(bytes([5, 1, 0, 1, 127, 0, 0, 1]) + (\(page)).to_bytes(2, "big"))
                print("reply", s.recv(10)[1], flush=True)
                """,
            ])
        #expect(try await client.match(/reply (\d+)\n/) != "0")
    }

    @Test func aFileIsShownUntilItIsInterrupted() async throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized.path
        let view = try Program("frametap", ["view", "--no-open", "\(root)/fixtures/line/\(try Self.capture(root))"])
        let address = try await view.match(
            /page at (http:\/\/127\.0\.0\.1:\d+\/\?token=[0-9a-f]{32})\n/, inErrors: true)
        #expect(!address.isEmpty)
        view.signal(SIGINT)
        #expect(try await view.exitStatus() == 0)
    }

    /// Of a trace with a line that cannot be read, the events before it are shown, and what is wrong.
    @Test func whatCanBeReadOfATraceIsShown() async throws {
        let root = URL(filePath: #filePath).appending(path: "../../..").standardized.path
        let decoded = try await Program.run(
            "frametap", ["decode", "--as", "ndjson", "\(root)/fixtures/line/\(try Self.capture(root))"])
        let lines = decoded.split(separator: "\n", omittingEmptySubsequences: true)
        let kept = lines.count / 2
        let frames = lines.prefix(kept).count { $0.hasPrefix("{\"event\":\"frame\"") }
        let folder = try Folder()
        let trace = folder.path("half.ndjson")
        let text = (lines.prefix(kept) + ["GARBAGE"] + lines.dropFirst(kept)).joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: URL(filePath: trace))
        let view = try Program("frametap", ["view", "--no-open", trace])
        let address = try await view.match(/page at (http:[^\n]+)\n/, inErrors: true)
        _ = try await view.match(/(this is no JSON)/, inErrors: true)
        let cookies = folder.path("cookies")
        _ = try await Program.run("curl", ["-s", "-c", cookies, address])
        let place = try #require(address.firstMatch(of: /^(.*)\?token/)?.1)
        var state: [String: Any] = [:]
        repeat {
            let answer = try await Program.run("curl", ["-s", "-b", cookies, "\(place)api/v1/page/state"])
            state = try #require(try JSONSerialization.jsonObject(with: Data(answer.utf8)) as? [String: Any])
        } while state["finished"] as? Bool != true
        #expect(frames > 0 && state["frames"] as? Int == frames)
        let complaints = try #require(state["complaints"] as? [String])
        #expect(complaints.contains { $0.contains("half.ndjson:\(kept + 1): this is no JSON") }, "\(complaints)")
        view.signal(SIGINT)
        #expect(try await view.exitStatus() == 2)
    }

    private static func capture(_ root: String) throws -> String {
        let names = try FileManager.default.contentsOfDirectory(atPath: "\(root)/fixtures/line")
        return try #require(names.first { $0.hasSuffix(".pcap") })
    }
}

import Foundation
import NIOHTTP1
import Testing

@testable import Control

/// Requests to the control API, and what they may ask for.
@Suite struct ControlRequestTests {
    private func request(_ target: String, _ headers: [(String, String)] = []) throws -> HTTPRequest {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: target, headers: HTTPHeaders(headers))
        return try #require(HTTPRequest(head, body: []))
    }

    /// A target may be a whole URL, whose host counts then.
    @Test(arguments: ["/api/v1/listeners?after=7", "http://127.0.0.1:8474/api/v1/listeners?after=7"])
    func bothFormsOfTargetsAreTaken(_ target: String) throws {
        let request = try request(target, [("Host", "127.0.0.1:8474")])
        #expect(request.path == ["api", "v1", "listeners"] && request.query == ["after": "7"])
        #expect(request.headers["host"] == ["127.0.0.1:8474"])
    }

    @Test func theHostOfAURLCounts() throws {
        let request = try request("HTTP://evil.example/api", [("Host", "127.0.0.1:8474")])
        #expect(request.headers["host"] == ["evil.example"] && request.path == ["api"])
        #expect(try self.request("http://evil.example?a=b").query == ["a": "b"])
    }

    @Test func whatIsNotKnownIsRefused() throws {
        let wait = try #require(APIResource.at(["listeners", "a", "wait"]))
        #expect(throws: Never.self) { try wait.check(try request("/x?when=a&timeout=1&connection=3&leg=in&after=0")) }
        func fault(_ target: String, _ resource: APIResource) throws -> String {
            let request = try request(target)
            let fault = #expect(throws: HTTPFault.self) { try resource.check(request) }
            #expect(fault?.status == .badRequest)
            return fault?.message ?? ""
        }
        #expect(
            try fault("/x?when=a&conection=3", wait)
                == "there is no parameter conection; known are when, after, leg, connection, timeout")
        #expect(try fault("/x?timeout=0.2&timeout=5", wait) == "timeout is given more than once")
        let all = try #require(APIResource.at(["listeners"]))
        #expect(try fault("/x?limit=1", all) == "there is no parameter limit; expected none")
        #expect(
            APIResource.at(["nowhere"]) == nil && APIResource.at(["listeners", "a", "connections", "1", "x"]) == nil)
    }

    /// Every path and method, and every parameter, of the description is there, and no other one.
    @Test func theDescriptionIsThatOfTheAPI() throws {
        let document = try JSONSerialization.jsonObject(with: Data(OpenAPI.document.utf8)) as? [String: Any]
        let paths = try #require(document?["paths"] as? [String: [String: Any]])
        for (path, item) in paths {
            let parts = path.split(separator: "/").dropFirst(2).map(String.init)
            let resource = try #require(APIResource.at(parts), "\(path)")
            let methods = item.keys.filter { $0 != "parameters" }.map { $0.uppercased() }
            #expect(Set(methods) == Set(resource.methods.map(\.rawValue)), "\(path)")
            let parameters = (item["parameters"] as? [[String: Any]] ?? []).filter { $0["in"] as? String == "query" }
            #expect(Set(parameters.compactMap { $0["name"] as? String }) == Set(resource.parameters), "\(path)")
        }
    }

    @Test func aMethodThatIsNotThereIsNamedWithThoseThatAre() throws {
        let listeners = try #require(APIResource.at(["listeners"]))
        #expect(listeners.refusal(of: .GET) == nil && listeners.refusal(of: .POST) == nil)
        let response = try #require(listeners.refusal(of: .DELETE))
        #expect(response.status == .methodNotAllowed)
        #expect(response.headers.first { $0.name == "Allow" }?.value == "GET, HEAD, POST")
    }

    @Test func aContentTypeHasAnyCase() {
        for type in [
            "application/json", "Application/JSON", "application/json; charset=utf-8", "APPLICATION/JSON ;a=b",
        ] {
            #expect(ControlAPI.isJSON(type), "\(type)")
        }
        for type in ["application/jsonp", "text/plain", "", nil] { #expect(!ControlAPI.isJSON(type)) }
    }

    /// Requests of a client of a listener that is deleted meanwhile; what was seen, as JSON.
    private static let script = """
        import json, socket, sys, threading, time, urllib.error, urllib.parse, urllib.request
        control, seen = int(sys.argv[1]), {}
        def call(method, path, body=None):
            headers = {"Authorization": "Bearer T", "Content-Type": "application/json"}
            data = None if body is None else json.dumps(body).encode()
            request = urllib.request.Request(f"http://127.0.0.1:{control}/api/v1{path}", data, headers, method=method)
            try:
                with urllib.request.urlopen(request, timeout=60) as response:
                    return response.status, response.read().decode(), dict(response.headers)
            except urllib.error.HTTPError as error:
                return error.code, error.read().decode(), dict(error.headers)
        def raw(head, body=b""):
            with socket.create_connection(("127.0.0.1", control), 60) as sock:
                sock.sendall(head.encode())
                data = sock.recv(1000) if body else b""
                sock.sendall(body)
                while piece := sock.recv(1000):
                    data += piece
                return data.decode()
        def echo(listener):
            while True:
                connection = listener.accept()[0]
                connection.sendall(connection.recv(100))
        listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=echo, args=(listener,), daemon=True).start()
        to = f"127.0.0.1:{listener.getsockname()[1]}"
        opened = json.loads(call("POST", "/listeners", {"name": "a", "to": to, "format": "line"})[1])
        host, port = opened["listen"].rsplit(":", 1)
        sock = socket.create_connection((host, int(port)), 60)
        sock.sendall(b"hello\\n")
        sock.recv(100)
        when = urllib.parse.quote('body.text == "never"')
        threads = []
        def later(name, path):
            threads.append(threading.Thread(target=lambda: seen.update({name: call("GET", path)[:2]})))
            threads[-1].start()
        later("wait", "/listeners/a/wait?timeout=300&when=" + when)
        later("follow", "/listeners/a/events?follow=true")
        call("GET", "/listeners/a/wait?when=" + urllib.parse.quote('from == "server"'))
        seen["trace"] = call("GET", "/listeners/a/trace")[1].split("\\n")[0]
        seen["typo"] = call("GET", "/listeners/a/wait?conection=3&when=" + when)[:2]
        seen["ranges"] = [call("GET", "/listeners/a/events?" + query)[0] for query in
                          ["limit=10001", "limit=10000", "connection=0", "connection=1", "after=-1", "limit=1&limit=2"]]
        seen["head"] = call("HEAD", "/listeners")[:2]
        status, _, headers = call("PATCH", "/listeners/a")
        seen["patch"] = [status, headers.get("Allow")]
        ends = f"Host: 127.0.0.1:{control}\\r\\nAuthorization: Bearer T\\r\\nConnection: close\\r\\n"
        seen["absolute"] = raw(f"GET http://127.0.0.1:{control}/api/v1/listeners/a HTTP/1.1\\r\\n{ends}\\r\\n")
        rules = b"[]"
        seen["continue"] = raw(
            f"PUT /api/v1/listeners/a/rules HTTP/1.1\\r\\n{ends}Content-Type: Application/JSON\\r\\n"
            f"Expect: 100-continue\\r\\nContent-Length: {len(rules)}\\r\\n\\r\\n", rules)
        seen["deleted"] = call("DELETE", "/listeners/a")[0]
        for thread in threads:
            thread.join()
        seen["follow"] = [json.loads(line)["event"] for line in seen["follow"][1].splitlines()]
        print(json.dumps(seen))
        """

    @Test func requestsAreAnsweredAsHTTPSays() async throws {
        let proxy = try Program(
            "frametap",
            ["proxy", "--control", "127.0.0.1:0", "--control-token", "T", "--as", "none", "--format", "line"])
        let port = try await proxy.match(/control on http:\/\/127\.0\.0\.1:(\d+)\n/, inErrors: true)
        let output = try await Program.run("python3", ["-c", Self.script, port])
        let seen = try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
        func pair(_ key: String) -> (status: Int, text: String) {
            let pair = seen[key] as? [Any] ?? []
            return (pair.first as? Int ?? 0, pair.last as? String ?? "")
        }
        func text(_ key: String) -> String { seen[key] as? String ?? "" }
        // Who waits for a deleted listener's frames learns that, after its last event.
        #expect(pair("wait").status == 404 && pair("wait").text.contains("the listener a was deleted"), "\(output)")
        let followed = seen["follow"] as? [String] ?? []
        #expect(followed.first == "opened" && followed.last == "closed", "\(followed)")
        #expect(text("trace").firstMatch(of: /"tool":"frametap \d+\./) != nil, "\(text("trace"))")
        #expect(pair("typo").status == 400 && pair("typo").text.contains("no parameter conection"))
        #expect(seen["ranges"] as? [Int] == [400, 200, 400, 200, 400, 400])
        #expect(pair("head").status == 200 && pair("head").text == "")
        #expect(pair("patch").status == 405 && pair("patch").text == "GET, HEAD, DELETE")
        #expect(text("absolute").hasPrefix("HTTP/1.1 200 OK\r\n"), "\(text("absolute"))")
        #expect(text("continue").hasPrefix("HTTP/1.1 100 Continue\r\n"), "\(text("continue"))")
        #expect(text("continue").contains("\r\n\r\nHTTP/1.1 200 OK\r\n"), "\(text("continue"))")
        #expect(seen["deleted"] as? Int == 204)
        proxy.signal(SIGTERM)
        #expect(try await proxy.exitStatus() == 0)
    }
}

import Control
import Framing
import NIOHTTP1
import Proxy
import Streams
import TestSupport
import Testing

@testable import Page

/// Who may ask for what.
@Suite struct SafetyTests {
    private func request(
        _ target: String, _ headers: [(String, String)], method: HTTPMethod = .GET
    ) throws -> HTTPRequest {
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: target, headers: HTTPHeaders(headers))
        return try #require(HTTPRequest(head, body: []))
    }

    private let own = [("Host", "127.0.0.1:8090"), ("Cookie", "frametap-8090=secret")]

    private func judge(
        _ target: String, _ headers: [(String, String)], isWrite: Bool = false, method: HTTPMethod = .GET
    ) throws -> PageSafety.Verdict {
        ShownTrace.safety.judge(try request(target, headers, method: method), isWrite: isWrite)
    }

    private func isRefused(_ verdict: PageSafety.Verdict, _ status: Int = 403) -> Bool {
        if case .refused(status, _) = verdict { true } else { false }
    }

    @Test func theTokenBecomesACookie() throws {
        #expect(
            try judge("/?token=token", [("Host", "127.0.0.1:8090")])
                == .welcomed(cookie: "frametap-8090=secret; HttpOnly; SameSite=Strict; Path=/"))
        #expect(isRefused(try judge("/?token=token2", [("Host", "127.0.0.1:8090")])))
        #expect(isRefused(try judge("/?token=", own.dropLast())))
        #expect(isRefused(try judge("/api/v1/page/state?token=token", [("Host", "127.0.0.1:8090")])))
        #expect(isRefused(try judge("/?token=token", [("Host", "127.0.0.1:8090")], method: .POST)))
    }

    @Test(arguments: ["/", "/app.js", "/api/v1/page/state", "/api/v1/page/frames"])
    func withoutTheCookieNothingIsShown(_ target: String) throws {
        #expect(try judge(target, own) == .allowed)
        for cookie in ["", "frametap-8090=", "frametap-8090=token", "frametap-8091=secret", "frametap-8090=secret2"] {
            #expect(isRefused(try judge(target, [("Host", "127.0.0.1:8090"), ("Cookie", cookie)])), "\(cookie)")
        }
        #expect(try judge(target, [own[0], ("Cookie", "a=b; frametap-8090=secret; c=d")]) == .allowed)
    }

    @Test func otherHostsAreRefused() throws {
        for host in ["127.0.0.1", "localhost:8090", "LOCALHOST", "[::1]:8090", "127.0.0.1:1"] {
            #expect(try judge("/", [("Host", host), own[1]]) == .allowed, "\(host)")
        }
        for host in [
            "evil.example", "evil.example:8090", "127.0.0.1.evil.example", "10.0.0.7:8090", "", "localhost.evil",
        ] {
            #expect(isRefused(try judge("/", [("Host", host), own[1]])), "\(host)")
            #expect(isRefused(try judge("/?token=token", [("Host", host)])), "\(host)")
        }
        #expect(isRefused(try judge("/", [own[1]])))
        #expect(isRefused(try judge("/", [own[0], ("Host", "evil.example"), own[1]])))
        let everywhere = PageSafety(
            host: "0.0.0.0", at: HostPort(host: "0.0.0.0", port: 8090), token: "token", secret: "secret")
        #expect(everywhere.judge(try request("/", [("Host", "10.0.0.7:8090"), own[1]]), isWrite: false) == .allowed)
        #expect(isRefused(everywhere.judge(try request("/", [("Host", "evil.example"), own[1]]), isWrite: false)))
    }

    @Test func otherSitesCannotWrite() throws {
        let json = ("Content-Type", "application/json")
        #expect(try judge("/x", own + [json], isWrite: true, method: .POST) == .allowed)
        for site in ["cross-site", "same-site", "something"] {
            #expect(isRefused(try judge("/x", own + [json, ("Sec-Fetch-Site", site)], isWrite: true, method: .POST)))
            #expect(isRefused(try judge("/x", own + [("Sec-Fetch-Site", site)], isWrite: true)), "the WebSocket")
        }
        for site in ["same-origin", "none"] {
            #expect(try judge("/x", own + [json, ("Sec-Fetch-Site", site)], isWrite: true, method: .POST) == .allowed)
        }
        for origin in ["http://evil.example", "https://127.0.0.1:8090", "http://127.0.0.1:8091", "null", ""] {
            #expect(isRefused(try judge("/x", own + [json, ("Origin", origin)], isWrite: true, method: .POST)))
            #expect(isRefused(try judge("/x", own + [("Origin", origin)], isWrite: true)), "the WebSocket")
        }
        #expect(
            try judge("/x", own + [json, ("Origin", "http://127.0.0.1:8090")], isWrite: true, method: .POST) == .allowed
        )
        for type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", ""] {
            #expect(isRefused(try judge("/x", own + [("Content-Type", type)], isWrite: true, method: .POST), 415))
        }
        #expect(isRefused(try judge("/x", own, isWrite: true, method: .PUT), 415))
    }

    /// To cookies, all ports of a host are one site.
    @Test func otherPortsCannotRead() throws {
        for site in ["cross-site", "same-site", "something"] {
            #expect(isRefused(try judge("/api/v1/page/state", own + [("Sec-Fetch-Site", site)])), "\(site)")
            // A link to the page may be anywhere.
            #expect(try judge("/", own + [("Sec-Fetch-Site", site)]) == .allowed, "\(site)")
        }
        for site in ["same-origin", "none"] {
            #expect(try judge("/api/v1/page/state", own + [("Sec-Fetch-Site", site)]) == .allowed, "\(site)")
        }
    }

    /// Browsers add a new cookie with SameSite=Strict only to requests that come from a page of this origin.
    @Test func whoComesFromElsewhereIsLedOnByAPage() async throws {
        let page = try Page(isLive: true)
        let router = PageRouter(page: page, safety: ShownTrace.safety, actions: nil, capture: nil)
        let direct = try await router.response("/?token=token")
        #expect(direct.status == .seeOther && direct.headers.contains { $0.name == "Location" && $0.value == "/" })
        let cases: [(target: String, headers: [(String, String)])] = [
            ("/?token=token&from=file", []), ("/?token=token", [("Sec-Fetch-Site", "cross-site")]),
        ]
        for (target, headers) in cases {
            let response = try await router.response(target, headers: headers)
            #expect(response.status == .ok && response.contentType.hasPrefix("text/html"))
            #expect(response.headers.contains { $0.name == "Set-Cookie" && $0.value.contains("SameSite=Strict") })
            let text = String(decoding: response.body, as: UTF8.self)
            #expect(text.contains("http-equiv=\"refresh\" content=\"0;url=/\"") && !text.contains("token"))
        }
        let wrong = try await router.response("/?token=wrong&from=file")
        #expect(wrong.status == .forbidden)
        page.end()
    }

    /// Packets have what a format calls secret.
    @Test func packetsWithSecretsAreNotSaved() async throws {
        let fixture = Fixture(path: "im-magic/conversation.pcap")
        for showsSecrets in [false, true] {
            let shown = try await ShownTrace(fixture, showsSecrets: showsSecrets)
            let router = PageRouter(
                page: shown.page, safety: ShownTrace.safety, actions: nil, capture: { _ in ([1, 2], true) })
            let response = try await router.response("/api/v1/page/save?as=capture&connection=1")
            #expect(response.status == (showsSecrets ? .ok : .forbidden))
            if !showsSecrets {
                #expect(String(decoding: response.body, as: UTF8.self).contains("im-magic has secrets"))
            }
        }
    }

    @Test func onlyActionsOfTheContractAreForwarded() async throws {
        let page = try Page(isLive: true)
        let actions = PageActions(
            answer: { request, path in HTTPResponse(.ok, text: "\(request.method) \(path.joined(separator: "/"))") },
            listener: { _ in nil })
        let router = PageRouter(page: page, safety: ShownTrace.safety, actions: actions, capture: nil)
        let json = [("Content-Type", "application/json")]
        let allowed: [(HTTPMethod, String)] = [
            (.GET, "listeners"), (.PUT, "listeners/a/rules"), (.PUT, "listeners/a/breakpoints"),
            (.POST, "listeners/a/connections/1/frames"), (.POST, "listeners/a/connections/1/decide"), (.GET, "held"),
        ]
        for (method, path) in allowed {
            let response = try await router.response("/api/v1/page/\(path)", method: method, headers: json)
            #expect(response.status == .ok, "\(method) \(path)")
        }
        let others: [(HTTPMethod, String)] = [
            (.POST, "listeners"), (.DELETE, "listeners/a"), (.GET, "listeners/a/capture"), (.POST, "held"),
            (.POST, "frames"), (.PUT, "state"), (.DELETE, "event/1"),
        ]
        for (method, path) in others {
            let response = try await router.response("/api/v1/page/\(path)", method: method, headers: json)
            #expect([404, 405].contains(response.status.code), "\(method) \(path)")
        }
        let cross = try await router.response(
            "/api/v1/page/listeners/a/rules", method: .PUT, headers: json + [("Origin", "http://evil.example")])
        #expect(cross.status == .forbidden)
        page.end()
    }

    @Test(arguments: Fixture.all) func secretsAreInNoResponse(_ fixture: Fixture) async throws {
        let (shown, open) = (try await ShownTrace(fixture), try await ShownTrace(fixture, showsSecrets: true))
        var secrets: Set<String> = []
        for (hidden, plain) in zip(shown.lines, open.lines) where hidden.text != plain.text {
            let parsed = (
                try JSONValue(parsing: Array(hidden.text.utf8).span.bytes),
                try JSONValue(parsing: Array(plain.text.utf8).span.bytes)
            )
            Self.collect(parsed.0, parsed.1, into: &secrets)
        }
        // What is shown elsewhere, as a user's name may be, is no secret.
        secrets = secrets.filter { $0.utf8.count >= 4 && !shown.text.contains($0) }
        var targets = ["state", "findings", "summary", "connections?count=1000", "frames?count=1000", "roundtrips"]
        targets += ["timeline", "complete", "conversation?connection=1&count=1000"]
        targets += (0..<shown.lines.count).map { "event/\($0)" }
        for secret in secrets {
            targets.append("frames?filter=body.password+%3D%3D+%22\(secret.filter { $0.isASCII && $0.isLetter })%22")
        }
        for target in targets {
            let response = try await shown.router.response("/api/v1/page/\(target)")
            Self.expectNone(of: secrets, in: String(decoding: response.body, as: UTF8.self), target)
        }
        for form in ["trace", "golden", "torture"] {
            Self.expectNone(of: secrets, in: try await shown.saved("as=\(form)"), form)
        }
    }

    private static func expectNone(of secrets: Set<String>, in text: String, _ target: String) {
        let lower = text.lowercased()
        for secret in secrets {
            #expect(!text.contains(secret), "\(target) has \(secret)")
            let hex = Hexadecimal.text(Array(secret.utf8))
            if secret.utf8.count >= 6 { #expect(!lower.contains(hex), "\(target) has \(secret) in hex") }
        }
    }

    /// The texts that one value has where the other one is hidden.
    private static func collect(_ hidden: JSONValue, _ plain: JSONValue, into secrets: inout Set<String>) {
        switch (hidden, plain) {
        case (.object(let hidden), .object(let plain)):
            for member in plain {
                guard let other = hidden.first(where: { $0.name == member.name }) else { continue }
                collect(other.value, member.value, into: &secrets)
            }
        case (.array(let hidden), .array(let plain)):
            for (left, right) in zip(hidden, plain) { collect(left, right, into: &secrets) }
        case (.text(let mark), .text(let text)) where mark != text: secrets.insert(text)
        default: break
        }
    }
}

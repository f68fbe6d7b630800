import Control
import NIOHTTP1
import Proxy
import Streams

/// Who may ask the page's server for what. It judges requests by their heads, and does no I/O.
///
/// Other web pages must not reach it: neither by a name of their own that leads here (DNS rebinding: `Host`), nor with the user's
/// cookie (SameSite, `Origin`, `Sec-Fetch-Site`); nor may other users of this machine, who do not know the token.
struct PageSafety: Sendable {
    /// What becomes of a request.
    enum Verdict: Equatable {
        case allowed
        /// It shows the token: the browser gets the cookie, and an address without the token.
        case welcomed(cookie: String)
        case refused(status: Int, String)
    }

    /// What the printed address shows.
    let token: String
    private let secret: String
    private let name: String
    private let hosts: Set<String>
    private let acceptsAddresses: Bool

    /// - Parameters:
    ///   - host: the name or address that was asked for.
    ///   - place: where the server listens.
    ///   - token: what the printed address shows.
    ///   - secret: what the cookie shows.
    init(host: String, at place: HostPort, token: String, secret: String) {
        (self.token, self.secret, name) = (token, secret, "frametap-\(place.port)")
        hosts = ["127.0.0.1", "::1", "localhost", host.lowercased(), place.host.lowercased()]
        // Rebinding needs a name. An address is this machine's, if the request arrived here.
        acceptsAddresses = ["0.0.0.0", "::", ""].contains(place.host)
    }

    /// - Parameter isWrite: whether it changes something, or opens the WebSocket.
    func judge(_ request: HTTPRequest, isWrite: Bool) -> Verdict {
        let headers = request.headers
        guard headers["host"].count == 1, let host = headers.first(name: "host"), isOwn(host) else {
            return .refused(status: 403, "the Host header names another host")
        }
        if request.path.isEmpty, request.method == .GET, let shown = request.query["token"] {
            guard Self.isEqual(shown, token) else { return .refused(status: 403, Self.advice) }
            return .welcomed(cookie: "\(name)=\(secret); HttpOnly; SameSite=Strict; Path=/")
        }
        guard hasCookie(headers) else { return .refused(status: 403, Self.advice) }
        // To cookies and SameSite, all ports of a host are one site: only this tells another server of it from the page.
        let isGuarded = isWrite || request.path.first == "api"
        for site in headers["sec-fetch-site"] where isGuarded && site != "same-origin" && site != "none" {
            return .refused(status: 403, "the request comes from another site, or from another port of this one")
        }
        for origin in headers["origin"] where origin.lowercased() != "http://\(host.lowercased())" {
            return .refused(status: 403, "the request comes from another origin")
        }
        if isWrite, request.method != .GET {
            let type = headers.first(name: "content-type")?.lowercased() ?? ""
            let isJSON = type == "application/json" || type.hasPrefix("application/json;")
            guard isJSON else { return .refused(status: 415, "expected the header Content-Type: application/json") }
        }
        return .allowed
    }

    private static let advice = "Open the address that frametap printed: it has the token that this page needs."

    /// Whether a `Host` header names this server.
    private func isOwn(_ text: String) -> Bool {
        let name = (HostPort(text)?.host ?? text).lowercased()
        let bare = name.hasPrefix("[") && name.hasSuffix("]") ? String(name.dropFirst().dropLast()) : name
        return hosts.contains(bare) || acceptsAddresses && HostPort(host: bare, port: 0).isLiteral
    }

    private func hasCookie(_ headers: HTTPHeaders) -> Bool {
        headers["cookie"].contains { header in
            header.split(separator: ";").contains { part in
                let pair = part.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
                return pair.count == 2 && pair[0] == name && Self.isEqual(String(pair[1]), secret)
            }
        }
    }

    /// Whether two texts are equal. The comparison takes equally long, wherever they differ.
    static func isEqual(_ shown: String, _ expected: String) -> Bool {
        let (shown, expected) = (Array(shown.utf8), Array(expected.utf8))
        guard shown.count == expected.count else { return false }
        return zip(shown, expected).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// 128 random bits.
    static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.text((0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    /// What every response says.
    static let headers = [
        ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"),
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        ), ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
}

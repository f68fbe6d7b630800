import Framing
import NIOHTTP1

/// A request to the control API.
package struct HTTPRequest: Sendable {
    /// What is asked for.
    package var method: HTTPMethod
    /// The path's parts, without escapes.
    package var path: [String]
    /// The values after the path, by name; of a name that is there more than once, the last one.
    package var query: [String: String]
    /// The names that are there more than once.
    package var repeated: [String] = []
    /// The headers.
    package var headers: HTTPHeaders
    /// The body.
    package var body: [UInt8]

    /// - Returns: nil if the target is not one.
    package init?(_ head: HTTPRequestHead, body: [UInt8]) {
        (method, headers, self.body) = (head.method, head.headers, body)
        var target = head.uri[...]
        if let (authority, rest) = Self.absolute(target) {
            // It takes the place of the header's (RFC 9112 section 3.2.2).
            headers.replaceOrAdd(name: "host", value: authority)
            target = rest
        }
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path: [String] = []
        for part in parts[0].split(separator: "/") {
            guard let text = Self.unescaped(part) else { return nil }
            path.append(text)
        }
        self.path = path
        query = [:]
        for pair in (parts.count > 1 ? parts[1] : "").split(separator: "&") {
            let sides = pair.split(separator: "=", maxSplits: 1).map { $0.replacing("+", with: " ") }
            guard let name = sides.first.flatMap({ Self.unescaped($0[...]) }),
                let value = Self.unescaped((sides.count > 1 ? sides[1] : "")[...])
            else { return nil }
            if query.updateValue(value, forKey: name) != nil { repeated.append(name) }
        }
    }

    /// The authority of a target that is a whole URL, and what follows it; nil if it is none.
    private static func absolute(_ target: Substring) -> (authority: String, rest: Substring)? {
        let scheme = "http://"
        guard target.prefix(scheme.count).lowercased() == scheme else { return nil }
        let place = target.dropFirst(scheme.count)
        let end = place.firstIndex { $0 == "/" || $0 == "?" } ?? place.endIndex
        return (String(place[..<end]), place[end...])
    }

    /// A text whose bytes may be written as `%` and two hex digits (RFC 3986 section 2.1).
    private static func unescaped(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The body as JSON.
    package func json() throws(HTTPFault) -> JSONValue {
        do throws(JSONSyntaxError) {
            return try JSONValue(parsing: body.span.bytes)
        } catch {
            throw HTTPFault(.badRequest, "the body is no JSON: \(error)")
        }
    }
}

/// A response.
package struct HTTPResponse: Sendable {
    /// How the request fared.
    package var status: HTTPResponseStatus
    /// The type of the body.
    package var contentType = "application/json"
    /// The body.
    package var body: [UInt8] = []
    /// Further headers.
    package var headers: [(name: String, value: String)] = []
    /// What writes the body piece by piece; nil: it is `body`.
    package var follow: Follow?

    /// Writes pieces until there are no more; each write ends when the client takes it, and throws when there is no client.
    package typealias Follow = @Sendable (_ write: @Sendable ([UInt8]) async throws -> Void) async throws -> Void

    /// A body that is written as it comes.
    package init(contentType: String, _ follow: @escaping Follow) {
        (status, self.contentType, self.follow) = (.ok, contentType, follow)
    }

    /// Bytes.
    package init(_ status: HTTPResponseStatus, bytes: [UInt8], contentType: String) {
        (self.status, body, self.contentType) = (status, bytes, contentType)
    }

    /// JSON.
    package init(_ status: HTTPResponseStatus, _ value: JSONValue) {
        (self.status, body) = (status, Array((value.compactText + "\n").utf8))
    }

    /// Text.
    package init(_ status: HTTPResponseStatus, text: String, contentType: String = "text/plain; charset=utf-8") {
        (self.status, body, self.contentType) = (status, Array(text.utf8), contentType)
    }
}

/// Why a request is not answered.
package struct HTTPFault: Error {
    /// How the request fared.
    package var status: HTTPResponseStatus
    /// For people.
    package var message: String

    /// A reason.
    package init(_ status: HTTPResponseStatus, _ message: String) { (self.status, self.message) = (status, message) }
}

import Control
import NIOHTTP1
import NIOPosix
import Streams

/// What the page may do to the proxy: the control API's requests, below `listeners`.
package struct PageActions: Sendable {
    /// Answers a request, whose path begins with `listeners`.
    package var answer: @Sendable (_ request: HTTPRequest, _ path: [String]) async -> HTTPResponse
    /// The name of a connection's listener.
    package var listener: @Sendable (_ connection: Int) async -> String?
    /// A number that is another one after breakpoints or rules have changed.
    package var switches: @Sendable () -> Int
    /// For how long a frame is held; nil: for any time.
    package var holdTimeout: Interval?

    package init(
        answer: @escaping @Sendable (HTTPRequest, [String]) async -> HTTPResponse,
        listener: @escaping @Sendable (Int) async -> String?, switches: @escaping @Sendable () -> Int = { 0 },
        holdTimeout: Interval? = nil
    ) {
        (self.answer, self.listener, self.switches, self.holdTimeout) = (answer, listener, switches, holdTimeout)
    }
}

/// Answers the page's requests.
struct PageRouter: Sendable {
    let page: Page
    let safety: PageSafety
    let actions: PageActions?
    let capture: SaveQuery.Capture?

    /// Where queries and actions are.
    static let root = ["api", "v1", "page"]

    func answer(_ request: HTTPRequest) async -> HTTPResponse {
        switch judge(request) {
        case .welcomed(let cookie):
            var response = Self.welcome(request)
            response.headers.append(("Set-Cookie", cookie))
            return Self.withHeaders(response)
        case .refused(let status, let text): return Self.withHeaders(refusal(status, text, request))
        case .allowed where Self.isNews(request):
            return Self.withHeaders(refusal(426, "news come by WebSocket", request))
        case .allowed: return Self.withHeaders(await route(request, isWrite: Self.isWrite(request)))
        }
    }

    /// The response to a request that is refused, which its head decides; nil if it is not.
    func refusal(of request: HTTPRequest) -> HTTPResponse? {
        guard case .refused(let status, let text) = judge(request) else { return nil }
        return Self.withHeaders(refusal(status, text, request))
    }

    private func judge(_ request: HTTPRequest) -> PageSafety.Verdict {
        safety.judge(request, isWrite: Self.isWrite(request) || Self.isNews(request))
    }

    private static func isWrite(_ request: HTTPRequest) -> Bool { ![.GET, .HEAD].contains(request.method) }

    private static func isNews(_ request: HTTPRequest) -> Bool { request.path == root + ["news"] }

    private static func withHeaders(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        // The server itself adds the first two.
        for (name, value) in PageSafety.headers.dropFirst(2) { response.headers.append((name, value)) }
        return response
    }

    /// Leads to the page, without the token in the address.
    private static func welcome(_ request: HTTPRequest) -> HTTPResponse {
        let sites = request.headers["sec-fetch-site"]
        guard request.query["from"] == "file" || sites.contains(where: { $0 != "none" }) else {
            var response = HTTPResponse(.seeOther, text: "")
            response.headers = [("Location", "/")]
            return response
        }
        // A browser that was led here by a file, or by another site, does not send the new cookie when it is sent on from here:
        // SameSite=Strict. To a request that comes from a page of this origin, it adds the cookie.
        let text = """
            <!doctype html>
            <meta charset="utf-8">
            <title>frametap</title>
            <meta http-equiv="refresh" content="0;url=/">
            <p><a href="/">frametap</a></p>

            """
        return HTTPResponse(.ok, bytes: Array(text.utf8), contentType: "text/html; charset=utf-8")
    }

    private func refusal(_ status: Int, _ text: String, _ request: HTTPRequest) -> HTTPResponse {
        let status = HTTPResponseStatus(statusCode: status)
        if request.path.starts(with: Self.root) {
            return HTTPResponse(
                status, bytes: PageFault(Int(status.code), text).json, contentType: "application/json")
        }
        return HTTPResponse(status, text: text + "\n")
    }

    private func route(_ request: HTTPRequest, isWrite: Bool) async -> HTTPResponse {
        guard request.path.starts(with: Self.root) else {
            guard !isWrite else { return HTTPResponse(.methodNotAllowed, text: "") }
            return StaticFiles.response(request.path) ?? HTTPResponse(.notFound, text: "there is no such file\n")
        }
        let path = Array(request.path.dropFirst(Self.root.count))
        do {
            if let answer = try await act(request, path) { return answer }
            guard !isWrite else { throw Self.unreadable(request, path) }
            let query = QueryParameters(request.query)
            if path == ["save"] { return try SaveQuery(capture: capture).answer(query, page) }
            let bytes = try await page.perform { try self.answer(path, query) }
            return HTTPResponse(.ok, bytes: bytes, contentType: "application/json")
        } catch let fault as PageFault {
            return HTTPResponse(
                HTTPResponseStatus(statusCode: fault.status), bytes: fault.json, contentType: "application/json")
        } catch {
            return HTTPResponse(
                .internalServerError, bytes: PageFault(500, "\(error)").json, contentType: "application/json")
        }
    }

    /// Answers a request for an action; nil if it is none.
    private func act(_ request: HTTPRequest, _ path: [String]) async throws -> HTTPResponse? {
        guard ["listeners", "held"].contains(path.first) else { return nil }
        guard let actions else { throw PageFault(404, "there are no actions: nothing passes through this frametap") }
        guard path == ["held"] else {
            guard Self.isAction(request.method, path) else {
                throw PageFault(
                    404,
                    "there is no action \(request.method) \(Self.shown(path)); expected GET listeners, GET listeners/NAME, "
                        + "PUT listeners/NAME/rules, PUT listeners/NAME/breakpoints, POST listeners/NAME/connections/N/frames "
                        + "or POST listeners/NAME/connections/N/decide")
            }
            return await actions.answer(request, path)
        }
        guard request.method == .GET else { throw Self.unreadable(request, path) }
        var names: [Int: String] = [:]
        // Read once: a frame that is held later has no listener yet.
        let held = page.store.read { $0.held.frames }
        let frames = Array(held.prefix(HeldQuery.most))
        for connection in Set(frames.map(\.connection)) {
            names[connection] = await actions.listener(connection)
        }
        let known = names
        let bytes = try await page.perform { [page] in
            HeldQuery.answer(page, frames, total: held.count, timeout: actions.holdTimeout) { known[$0] }
        }
        return HTTPResponse(.ok, bytes: bytes, contentType: "application/json")
    }

    private static func shown(_ path: [String]) -> String { String(path.joined(separator: "/").prefix(80)) }

    private static func unreadable(_ request: HTTPRequest, _ path: [String]) -> PageFault {
        PageFault(405, "\(request.method) is not possible for \(shown(path)); expected GET")
    }

    /// The page neither opens nor closes listeners.
    private static func isAction(_ method: HTTPMethod, _ path: [String]) -> Bool {
        switch (method, path.count) {
        case (.GET, 1), (.GET, 2): true
        case (.PUT, 3): ["rules", "breakpoints"].contains(path[2])
        case (.POST, 5): path[2] == "connections" && ["frames", "decide"].contains(path[4])
        default: false
        }
    }

    /// What can be asked for.
    private static let queries =
        "state, connections, frames, place, event/N, timeline, conversation, findings, roundtrips, summary, report, "
        + "complete, save, held or listeners"

    private func answer(_ path: [String], _ query: QueryParameters) throws(PageFault) -> [UInt8] {
        switch path.first {
        case "state" where path.count == 1: return StateQuery.answer(page, actions)
        case "connections" where path.count == 1: return try ConnectionsQuery.answer(query, page)
        case "frames" where path.count == 1: return try FramesQuery.answer(query, page)
        case "place" where path.count == 1: return try PlaceQuery.answer(query, page)
        case "event" where path.count == 2:
            guard let event = Int(path[1]) else {
                throw PageFault(404, "there is no event \(path[1].prefix(40)); expected its number")
            }
            return try EventQuery.answer(event, page)
        case "timeline" where path.count == 1: return try TimelineQuery.answer(query, page)
        case "conversation" where path.count == 1: return try ConversationQuery.answer(query, page)
        case "findings" where path.count == 1: return try FindingsQuery.answer(query, page)
        case "roundtrips" where path.count == 1: return try RoundTripsQuery.answer(query, page)
        case "summary" where path.count == 1: return SummaryQuery.answer(page)
        case "report" where path.count == 1: return try ReportQuery.answer(page)
        case "complete" where path.count == 1: return CompleteQuery.answer(query, page)
        default: throw PageFault(404, "there is no \(Self.shown(path)); expected \(Self.queries)")
        }
    }
}

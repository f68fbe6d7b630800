import NIOHTTP1

/// What frametap's own API has at a path: methods, and parameters after the path.
struct APIResource {
    /// Besides `HEAD`, which is there for what can be read.
    var methods: [HTTPMethod]
    var parameters: [String] = []

    /// The resource at a path after `/api/v1`; nil if there is none.
    static func at(_ path: [String]) -> APIResource? {
        let selection = ["when", "after", "leg", "connection"]
        return switch (path.count, path.first, path.count > 2 ? path[2] : nil) {
        case (1, "openapi.json", nil): APIResource(methods: [.GET])
        case (1, "listeners", nil): APIResource(methods: [.GET, .POST])
        case (2, "listeners", nil): APIResource(methods: [.GET, .DELETE])
        case (3, "listeners", "rules"), (3, "listeners", "breakpoints"): APIResource(methods: [.PUT])
        case (3, "listeners", "events"): APIResource(methods: [.GET], parameters: selection + ["limit", "follow"])
        case (3, "listeners", "wait"): APIResource(methods: [.GET], parameters: selection + ["timeout"])
        case (3, "listeners", "trace"), (3, "listeners", "capture"): APIResource(methods: [.GET])
        case (5, "listeners", "connections") where ["frames", "decide"].contains(path[4]):
            APIResource(methods: [.POST])
        default: nil
        }
    }

    /// The response to a method that it does not have (RFC 9110 section 15.5.6); nil if it has it.
    func refusal(of method: HTTPMethod) -> HTTPResponse? {
        guard !methods.contains(method) else { return nil }
        let allowed = methods.flatMap { $0 == .GET ? [.GET, .HEAD] : [$0] }.map(\.rawValue).joined(separator: ", ")
        var response = ToxiproxyAPI.response(
            HTTPFault(.methodNotAllowed, "there is no \(method.rawValue) here; expected \(allowed)"))
        response.headers.append(("Allow", allowed))
        return response
    }

    /// Refuses parameters that it does not have: a typo must not ask for something else.
    func check(_ request: HTTPRequest) throws(HTTPFault) {
        if let name = request.repeated.first { throw HTTPFault(.badRequest, "\(name) is given more than once") }
        guard let unknown = request.query.keys.sorted().first(where: { !parameters.contains($0) }) else { return }
        let known = parameters.isEmpty ? "expected none" : "known are \(parameters.joined(separator: ", "))"
        throw HTTPFault(.badRequest, "there is no parameter \(unknown); \(known)")
    }
}

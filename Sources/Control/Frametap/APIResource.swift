import NIOHTTP1

/// What frametap's own API has at a path: methods, and parameters after the path.
enum APIResource {
    case document
    case listeners
    case listener(String)
    case rules(of: String)
    case breakpoints(of: String)
    case events(of: String)
    case wait(on: String)
    case trace(of: String)
    case capture(of: String)
    case frames(of: String, connection: String)
    case decisions(of: String, connection: String)

    /// The resource at a path after `/api/v1`; nil if there is none.
    static func at(_ path: [String]) -> APIResource? {
        guard path != ["openapi.json"] else { return .document }
        guard path.first == "listeners" else { return nil }
        if path.count == 1 { return .listeners }
        let name = path[1]
        switch path.count {
        case 2: return .listener(name)
        case 3: break
        case 5 where path[2] == "connections":
            return switch path[4] {
            case "frames": .frames(of: name, connection: path[3])
            case "decide": .decisions(of: name, connection: path[3])
            default: nil
            }
        default: return nil
        }
        return switch path[2] {
        case "rules": .rules(of: name)
        case "breakpoints": .breakpoints(of: name)
        case "events": .events(of: name)
        case "wait": .wait(on: name)
        case "trace": .trace(of: name)
        case "capture": .capture(of: name)
        default: nil
        }
    }

    /// Besides `HEAD`, which is there for what can be read.
    var methods: [HTTPMethod] {
        switch self {
        case .document, .events, .wait, .trace, .capture: [.GET]
        case .listeners: [.GET, .POST]
        case .listener: [.GET, .DELETE]
        case .rules, .breakpoints: [.PUT]
        case .frames, .decisions: [.POST]
        }
    }

    /// Those after the path.
    var parameters: [String] {
        let selection = ["when", "after", "leg", "connection"]
        return switch self {
        case .events: selection + ["limit", "follow"]
        case .wait: selection + ["timeout"]
        default: []
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

import Expressions
import Framing
import Interception
import NIOHTTP1
import Proxy
import Streams
import Trace

/// frametap's own API, version 1 (`docs/control.md`): listeners with their rules, and what passes through them.
package actor FrametapAPI {
    private let server: ProxyServer
    private let journal: EventJournal
    private let packets: PacketJournal
    private let seed: UInt64
    private let limits: StageChain.Limits
    private let tool: String
    private let formatNamed: @Sendable (String) throws -> Format
    private var listeners: [String: ControlledListener] = [:]
    private var made = 0
    private let changes = RequestQueue()
    private let switchCount = SwitchCount()

    /// The longest wait.
    private static let longestWait = 300.0
    /// The most events in a response.
    private static let mostEvents = 10_000

    /// - Parameters:
    ///   - journal: what passes through the proxy.
    ///   - packets: the same as packets.
    ///   - seed: decides what happens by chance.
    ///   - limits: how much the rules of a listener hold, and for how long.
    ///   - tool: this program and its version, for traces and captures.
    ///   - formatNamed: the format of a name, or of a file.
    package init(
        _ server: ProxyServer, _ journal: EventJournal, _ packets: PacketJournal, seed: UInt64,
        limits: StageChain.Limits, tool: String, formatNamed: @escaping @Sendable (String) throws -> Format
    ) {
        (self.server, self.journal, self.packets, self.tool) = (server, journal, packets, tool)
        (self.seed, self.limits, self.formatNamed) = (seed, limits, formatNamed)
    }

    /// Answers a request, whose path begins after `/api/v1`.
    /// Requests that change something wait for one another.
    package func answer(_ request: HTTPRequest, _ path: [String]) async -> HTTPResponse {
        var request = request
        // The same, without the body.
        if request.method == .HEAD { request.method = .GET }
        return await changes.perform(request) { await self.perform($0, path) }
            ?? HTTPResponse(.notFound, text: "404 page not found\n")
    }

    /// A number that is another one after listeners, their breakpoints or their rules have changed.
    package nonisolated var switches: Int { switchCount.value }

    private func perform(_ request: HTTPRequest, _ path: [String]) async -> HTTPResponse {
        // Frames and decisions about them change none.
        defer { if request.method != .GET, path.count < 5 { switchCount.increase() } }
        do {
            return try await route(request, path)
        } catch let fault as HTTPFault {
            return ToxiproxyAPI.response(fault)
        } catch {
            return ToxiproxyAPI.response(HTTPFault(.internalServerError, "\(error)"))
        }
    }

    private func route(_ request: HTTPRequest, _ path: [String]) async throws -> HTTPResponse {
        guard let resource = APIResource.at(path) else {
            throw HTTPFault(.notFound, "there is no /api/v1/\(path.joined(separator: "/"))")
        }
        if let refusal = resource.refusal(of: request.method) { return refusal }
        try resource.check(request)
        switch resource {
        case .document: return HTTPResponse(.ok, text: OpenAPI.document, contentType: "application/json")
        case .listeners where request.method == .POST:
            return HTTPResponse(.created, try await open(try request.json()).json)
        case .listeners:
            let all = listeners.values.sorted { $0.name < $1.name }
            return HTTPResponse(.ok, .object([.init("listeners", .array(all.map(\.json)))]))
        case .listener(let name) where request.method == .DELETE:
            let known = try listener(name)
            if known.isGiven { throw HTTPFault(.conflict, "the listener \(known.name) is the command line's") }
            listeners[known.name] = nil
            try await close(known)
            return HTTPResponse(.noContent, text: "")
        case .listener(let name): return HTTPResponse(.ok, try listener(name).json)
        case .rules(let name):
            let known = try listener(name)
            try known.set(try Self.texts(try request.json(), "the body"))
            return HTTPResponse(.ok, known.json)
        case .breakpoints(let name):
            let known = try listener(name)
            try await known.setBreakpoints(try Self.texts(try request.json(), "the body"))
            return HTTPResponse(.ok, known.json)
        case .frames(let name, let connection):
            let known = try listener(name)
            try known.send(request.body, to: try Self.number(connection))
            return HTTPResponse(.noContent, text: "")
        case .decisions(let name, let connection):
            let known = try listener(name)
            let number = try Self.number(connection)
            try await known.decide(try request.json(), on: number)
            return HTTPResponse(.noContent, text: "")
        case .events(let name): return try events(of: listener(name), request)
        case .wait(let name): return try await wait(on: listener(name), request)
        case .trace(let name): return trace(of: try listener(name))
        case .capture(let name): return capture(of: try listener(name))
        }
    }

    private static func number(_ connection: String) throws(HTTPFault) -> Int {
        guard let number = Int(connection) else {
            throw HTTPFault(.badRequest, "\(connection) is no connection; expected a number")
        }
        return number
    }

    // MARK: Listeners

    /// Adds a listener of the command line.
    package func adopt(_ listener: ControlledListener) { listeners[listener.name] = listener }

    /// The name of the listener of a connection; nil if that is not known.
    package func listener(of connection: Int) -> String? {
        listeners.values.first { $0.has(connection) }?.name
    }

    private func listener(_ name: String) throws(HTTPFault) -> ControlledListener {
        guard let known = listeners[name] else { throw HTTPFault(.notFound, "there is no listener \(name)") }
        return known
    }

    private static func texts(_ json: JSONValue, _ key: String) throws(HTTPFault) -> [String] {
        guard case .array(let items) = json else { throw HTTPFault(.badRequest, "\(key): expected a list of texts") }
        var texts: [String] = []
        for item in items {
            guard let text = item.string else { throw HTTPFault(.badRequest, "\(key): expected a list of texts") }
            texts.append(text)
        }
        return texts
    }

    private func open(_ json: JSONValue) async throws -> ControlledListener {
        guard case .object(let members) = json else { throw HTTPFault(.badRequest, "expected an object") }
        let keys = ["name", "listen", "to", "format", "rules", "breakpoints", "seed"]
        for key in ["name", "listen", "to", "format"] where json[key].map({ $0.string == nil && $0 != .null }) ?? false
        {
            throw HTTPFault(.badRequest, "\"\(key)\" is \(json[key]?.compactText ?? ""); expected text")
        }
        if let unknown = members.first(where: { !keys.contains($0.name) }) {
            throw HTTPFault(.badRequest, "there is no key \(unknown.name); known are \(keys.joined(separator: ", "))")
        }
        guard let to = json["to"]?.string.flatMap({ HostPort($0) }) else {
            throw HTTPFault(
                .badRequest, "\"to\" is \(json["to"]?.compactText ?? "missing"); expected the server's host:port")
        }
        guard let listen = HostPort(json["listen"]?.string ?? "127.0.0.1:0") else {
            throw HTTPFault(.badRequest, "\"listen\" is \(json["listen"]?.compactText ?? ""); expected address:port")
        }
        if json["name"]?.string == "" {
            throw HTTPFault(.badRequest, "\"name\" is empty; expected text, or no name")
        }
        made += 1
        let name = json["name"]?.string ?? "listener-\(made)"
        guard listeners[name] == nil else { throw HTTPFault(.conflict, "there is a listener \(name) already") }
        var format: Format?
        if let text = json["format"]?.string {
            do { format = try formatNamed(text) } catch { throw HTTPFault(.badRequest, "\"format\": \(error)") }
        }
        let opened = try ControlledListener(
            name, to: to, format: format, rules: try Self.texts(json["rules"] ?? .array([]), "\"rules\""),
            breakpoints: try Self.texts(json["breakpoints"] ?? .array([]), "\"breakpoints\""),
            seed: try Self.seed(json["seed"]) ?? seed)
        listeners[name] = opened
        do { try await opened.open(at: listen, to: to, of: server, limits: limits) } catch {
            if listeners[name] === opened { listeners[name] = nil }
            throw HTTPFault(.conflict, "\(error)")
        }
        // Deleted while it was being opened.
        if listeners[name] !== opened {
            try await close(opened)
            throw HTTPFault(.conflict, "the listener \(name) was deleted while it was being opened")
        }
        return opened
    }

    /// Closes a listener. Who waits for its events learns that once all of them are recorded.
    private func close(_ listener: ControlledListener) async throws {
        defer {
            let (server, journal) = (server, journal)
            Task {
                await listener.waitForEnd(of: server)
                journal.wake()
            }
        }
        try await listener.close()
    }

    private static func seed(_ json: JSONValue?) throws(HTTPFault) -> UInt64? {
        guard let json else { return nil }
        guard case .number(let digits) = json, let seed = UInt64(digits) else {
            throw HTTPFault(.badRequest, "\"seed\" is \(json.compactText); expected a whole number from 0 on")
        }
        return seed
    }

    // MARK: Events

    private static func number(
        _ request: HTTPRequest, _ key: String, _ otherwise: Int, in range: ClosedRange<Int> = 0...Int.max
    ) throws(HTTPFault) -> Int {
        guard let text = request.query[key] else { return otherwise }
        guard let number = Int(text), range.contains(number) else {
            let limits = "\(range.lowerBound) \(range.upperBound == .max ? "on" : "to \(range.upperBound)")"
            throw HTTPFault(.badRequest, "\(key) is \(text); expected a whole number from \(limits)")
        }
        return number
    }

    /// The wanted leg; nil: both.
    private static func leg(_ request: HTTPRequest) throws(HTTPFault) -> Leg? {
        guard let text = request.query["leg"] else { return .in }
        if let leg = Leg(rawValue: text) { return leg }
        if text == "both" { return nil }
        throw HTTPFault(
            .badRequest, "leg is \(text); expected in (what both sides sent), out (what was passed on) or both")
    }

    private static func condition(_ request: HTTPRequest) throws(HTTPFault) -> FrameCondition? {
        guard let text = request.query["when"] else { return nil }
        do throws(ExpressionError) { return try FrameCondition(text) } catch {
            throw HTTPFault(.badRequest, "when, column \(error.column): \(error.message)")
        }
    }

    /// The events of a page, each with the cursor after it.
    private static func lines(_ page: EventJournal.Page) -> [JSONValue] {
        page.events.map { entry -> JSONValue in
            guard case .object(var members) = entry.event.json else { return .null }
            members.insert(.init("cursor", .number("\(entry.number + 1)")), at: 0)
            return .object(members)
        }
    }

    private static func response(_ page: EventJournal.Page) -> HTTPResponse {
        HTTPResponse(
            .ok,
            .object([
                .init("events", .array(lines(page))), .init("next", .number("\(page.next)")),
                .init("missed", .number("\(page.missed)")), .init("latest", .number("\(page.latest)")),
            ]))
    }

    /// Whether an event of a listener is asked for.
    private nonisolated static func selection(
        of listener: ControlledListener, _ request: HTTPRequest
    ) throws(HTTPFault) -> @Sendable (TraceEvent) -> Bool {
        let condition = try condition(request)
        let leg = try leg(request)
        let only = request.query["connection"] == nil ? nil : try number(request, "connection", 1, in: 1...Int.max)
        return { event in
            guard let connection = event.connection, only ?? connection == connection, listener.has(connection) else {
                return false
            }
            if let leg, let own = event.leg, own != leg { return false }
            guard let condition else { return true }
            if case .frame(let frame) = event { return condition.holds(for: frame) }
            return false
        }
    }

    private func events(of listener: ControlledListener, _ request: HTTPRequest) throws -> HTTPResponse {
        let after = try Self.number(request, "after", 0)
        let isWanted = try Self.selection(of: listener, request)
        let limit = try Self.number(request, "limit", 1_000, in: 0...Self.mostEvents)
        switch request.query["follow"] {
        case nil, "false": break
        case "true": return follow(listener, from: after, isWanted)
        case let text?: throw HTTPFault(.badRequest, "follow is \(text); expected true or false")
        }
        return Self.response(journal.page(from: after, atMost: limit, isWanted))
    }

    /// Events as they come, a line each, until the client closes the connection, or the listener or the proxy has ended.
    private nonisolated func follow(
        _ listener: ControlledListener, from start: Int, _ isWanted: @escaping @Sendable (TraceEvent) -> Bool
    ) -> HTTPResponse {
        HTTPResponse(contentType: "application/x-ndjson") { [journal] write in
            var cursor = start
            while !Task.isCancelled {
                // Asked before, so that the last events are not missed.
                let isOver = journal.isOver || listener.isOver
                let page = journal.page(from: cursor, atMost: 1_000, isWanted)
                var lines: [UInt8] = []
                if page.missed > 0 {
                    lines += Array("{\"cursor\":\(cursor + page.missed),\"missed\":\(page.missed)}\n".utf8)
                }
                cursor = page.next
                for line in Self.lines(page) { lines += Array((line.compactText + "\n").utf8) }
                if !lines.isEmpty { try await write(lines) }
                if page.events.count == 1_000 { continue }
                if isOver { return }
                await journal.wait(for: cursor) { listener.isOver }
            }
        }
    }

    /// The first frame from a cursor on for which a condition holds, once there is one.
    private nonisolated func wait(
        on listener: ControlledListener, _ request: HTTPRequest
    ) async throws -> HTTPResponse {
        guard request.query["when"] != nil else {
            throw HTTPFault(
                .badRequest, "expected when: a condition on the awaited frame, such as when=type == \"txt\"")
        }
        let seconds = request.query["timeout"].map { Double($0) ?? -1 } ?? 10
        guard seconds >= 0, seconds <= Self.longestWait else {
            throw HTTPFault(.badRequest, "timeout is \(request.query["timeout"] ?? ""); expected 0 to 300 seconds")
        }
        let deadline = ContinuousClock.now + .seconds(seconds)
        var cursor = try Self.number(request, "after", 0)
        let isWanted = try Self.selection(of: listener, request)
        while true {
            // Asked before, so that the last frames are not missed.
            let isOver = listener.isOver
            let page = journal.page(from: cursor, atMost: 1, isWanted)
            if !page.events.isEmpty { return Self.response(page) }
            cursor = page.next
            if isOver {
                throw HTTPFault(
                    .notFound,
                    "the listener \(listener.name) was deleted, without a frame for which \(request.query["when"] ?? "")"
                )
            }
            guard ContinuousClock.now < deadline, !journal.isOver else {
                throw HTTPFault(
                    .requestTimeout,
                    "no frame for which \(request.query["when"] ?? "") in \(seconds) s; go on with after=\(cursor)")
            }
            let (journal, next) = (journal, cursor)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await journal.wait(for: next) { listener.isOver } }
                group.addTask { try? await Task.sleep(until: deadline) }
                await group.next()
                group.cancelAll()
            }
        }
    }

    /// The trace of a listener's connections, as NDJSON.
    private func trace(of listener: ControlledListener) -> HTTPResponse {
        let output = MemoryOutput()
        let writer = NDJSONWriter(to: output)
        writer.write(.trace(TraceStart(version: NDJSONWriter.version, source: listener.name, tool: tool)))
        let page = journal.page(from: 0, atMost: .max) { event in
            event.connection.map { listener.has($0) } ?? false
        }
        for entry in page.events { writer.write(entry.event) }
        writer.flush()
        return HTTPResponse(.ok, text: output.text, contentType: "application/x-ndjson")
    }

    /// The packets of a listener's connections, as pcapng.
    private func capture(of listener: ControlledListener) -> HTTPResponse {
        let (bytes, isComplete) = packets.capture(tool: tool, of: listener.connections)
        var response = HTTPResponse(.ok, bytes: bytes, contentType: "application/x-pcapng")
        if !isComplete { response.headers.append(("X-Frametap-Incomplete", "the oldest packets were evicted")) }
        return response
    }
}

extension TraceEvent {
    /// Its line of a trace, as JSON.
    fileprivate var json: JSONValue {
        let output = MemoryOutput()
        let writer = NDJSONWriter(to: output)
        writer.write(self)
        writer.flush()
        let bytes = output.bytes
        return (try? JSONValue(parsing: bytes.span.bytes)) ?? .null
    }
}

import Expressions
import Framing
import Interception
import NIOHTTP1
import Proxy
import Streams
import Synchronization

/// A listener that the API has opened, one test's own; or one of the command line.
package final class ControlledListener: Sendable {
    /// Where rules come from.
    private enum Rules {
        case own(RuleSet, [String])
        case given(any ListenerRules)
    }

    private struct State {
        var rules: Rules
        var breakpoints: [String]
        var listener: ManagedListener?
        /// The connections that it has had.
        var connections = ConnectionNumbers()
        /// Whether it is closed, and everything that passed is recorded.
        var isOver = false
    }

    let name: String
    /// The server, for people.
    private let server: String
    /// Where it listens, if the command line says so.
    private let listen: String?
    let format: Format?
    /// The format of a connection, if that is not known before.
    private let formatOf: @Sendable (Int) -> Format?
    private let state: Mutex<State>

    /// Whether the command line opened it.
    var isGiven: Bool { listen != nil }

    /// A listener of the command line.
    ///
    /// - Parameters:
    ///   - name: what requests call it.
    ///   - listener: its handle.
    ///   - listen: where it listens.
    ///   - server: its server, for people.
    ///   - formatOf: the format of a connection, as far as it is known.
    package init(
        _ name: String, _ listener: ManagedListener, listen: String, to server: String, _ rules: any ListenerRules,
        formatOf: @escaping @Sendable (Int) -> Format?
    ) {
        (self.name, self.server, self.listen, format) = (name, server, listen, rules.format)
        self.formatOf = formatOf
        state = Mutex(State(rules: .given(rules), breakpoints: [], listener: listener))
        listener.setStages { [weak self] connection, server in
            rules.stages(of: connection, to: server, breakpoints: self?.opened(connection).breakpoints ?? [])
        }
        keepLatest(listener)
    }

    init(
        _ name: String, to server: HostPort, format: Format?, rules texts: [String], breakpoints: [String], seed: UInt64
    ) throws(HTTPFault) {
        (self.name, self.server, self.format, listen) = (name, "\(server)", format, nil)
        formatOf = { _ in format }
        state = Mutex(
            State(
                rules: .own(try Self.rules(texts, format, seed: seed), texts),
                breakpoints: try Self.checked(breakpoints, format, isGiven: false)))
    }

    /// Notes a connection that opens now.
    private func opened(_ connection: Int) -> (rules: Rules, breakpoints: [String]) {
        state.withLock { state in
            state.connections.insert(connection)
            return (state.rules, state.breakpoints)
        }
    }

    private var breakpoints: [String] { state.withLock { $0.breakpoints } }

    /// A connection gets the breakpoints that were set while it opened.
    private func keepLatest(_ listener: ManagedListener) {
        listener.setLatest { [weak self] _ in self.map { .setBreakpoints($0.breakpoints) } }
    }

    private static func rules(_ texts: [String], _ format: Format?, seed: UInt64) throws(HTTPFault) -> RuleSet {
        var rules: [Rule] = []
        for (place, text) in texts.enumerated() {
            do throws(FormatFileError) {
                rules.append(try RuleFile.rule(text, number: place + 1, format: format))
            } catch {
                throw HTTPFault(.badRequest, "rules[\(place)]: \(error)")
            }
        }
        let set = RuleSet(rules, seed: seed)
        if set.needsFormat, format == nil { throw HTTPFault(.badRequest, "rules for frames need \"format\"") }
        return set
    }

    /// Listens.
    ///
    /// - Parameter limits: how much the rules of a connection hold, and for how long.
    func open(
        at address: HostPort, to server: HostPort, of proxy: ProxyServer, limits: StageChain.Limits
    ) async throws {
        let listener = try await proxy.open(address, to: server) { [weak self] connection in
            guard let self else { return nil }
            let (rules, breakpoints) = opened(connection)
            guard case .own(let set, _) = rules else { return nil }
            return set.stages(
                of: connection, format: format, limits: limits, isCommanded: true, breakpoints: breakpoints)
        }
        keepLatest(listener)
        state.withLock { $0.listener = listener }
    }

    func close() async throws { try await state.withLock { $0.listener }?.close() }

    /// Returns when its clients are gone, after it was closed, and everything that passed is recorded: then it is over.
    func waitForEnd(of proxy: ProxyServer) async {
        await state.withLock { $0.listener }?.waitForClients()
        await proxy.waitForRecorder()
        state.withLock { $0.isOver = true }
    }

    /// Whether it is closed, and nothing of its connections is still to be recorded.
    var isOver: Bool { state.withLock { $0.isOver } }

    /// Sends a frame into an open connection.
    ///
    /// - Parameter line: the frame as a line of JSON, as a trace has it; or `from` and `bytes`, in hexadecimal.
    func send(_ line: [UInt8], to connection: Int) throws(HTTPFault) {
        guard let format = format ?? formatOf(connection) else {
            throw HTTPFault(
                .conflict,
                isGiven
                    ? "the format of connection \(connection) is not known, which frames need"
                    : "the listener \(name) has no \"format\", which frames need")
        }
        let direction: Direction
        let bytes: [UInt8]
        do throws(EncodingError) {
            let json = try? JSONValue(parsing: line.span.bytes)
            guard let frame = try FrameLine(parsing: line.span.bytes, others: ["bytes"]) else {
                throw EncodingError("expected a frame")
            }
            guard let from = frame.from else {
                throw EncodingError("expected \"from\": client or server, on whose behalf it is sent")
            }
            direction = from
            if let raw = json?["bytes"] {
                guard let given = raw.string.flatMap({ Hexadecimal.bytes($0.utf8) }), !given.isEmpty else {
                    throw EncodingError(
                        "\"bytes\" is \((raw.string ?? raw.compactText).prefix(40)); expected hexadecimal digits")
                }
                if let other = ["type", "layout", "fields", "body"].first(where: { json?[$0] != nil }) {
                    throw EncodingError("\"bytes\" are the whole frame; expected no \"\(other)\" with them")
                }
                bytes = given
            } else {
                bytes = try format.encode(frame, from: from)
            }
        } catch {
            throw HTTPFault(.badRequest, "\(error)")
        }
        let listener = state.withLock { $0.listener }
        guard listener?.send(.inject(bytes, direction), to: connection) ?? false else {
            throw HTTPFault(.notFound, "connection \(connection) of the listener \(name) is not open")
        }
    }

    /// Changes the rules, for connections that open from now on.
    func set(_ texts: [String]) throws(HTTPFault) {
        switch state.withLock({ $0.rules }) {
        case .own(let before, _):
            let rules = try Self.rules(texts, format, seed: before.seed)
            state.withLock { $0.rules = .own(rules, texts) }
        case .given(let rules):
            do { try rules.set(texts) } catch { throw HTTPFault(.badRequest, "\(error)") }
        }
    }

    /// Checks conditions.
    private static func checked(
        _ breakpoints: [String], _ format: Format?, isGiven: Bool
    ) throws(HTTPFault) -> [String] {
        for (place, text) in breakpoints.enumerated() {
            do throws(ExpressionError) { _ = try FrameCondition(text) } catch {
                throw HTTPFault(.badRequest, "breakpoints[\(place)], column \(error.column): \(error.message)")
            }
        }
        if format == nil, !isGiven, !breakpoints.isEmpty { throw HTTPFault(.badRequest, "breakpoints need \"format\"") }
        return breakpoints
    }

    /// Changes the breakpoints, on open connections too. Done when these have them.
    func setBreakpoints(_ texts: [String]) async throws(HTTPFault) {
        let texts = try Self.checked(texts, format, isGiven: isGiven)
        let listener = state.withLock { state in
            state.breakpoints = texts
            return state.listener
        }
        await listener?.send { _ in .setBreakpoints(texts) }.wait()
    }

    /// Decides what becomes of a stopped frame.
    ///
    /// - Parameter line: `from`, `index` and `do`; with `replace`, `fields` and `body`.
    func decide(_ line: JSONValue, on connection: Int) async throws(HTTPFault) {
        guard let direction = Direction.allCases.first(where: { $0.sender == line["from"]?.string }),
            let index = line["index"]?.integer
        else { throw HTTPFault(.badRequest, "expected \"from\": client or server, and \"index\": the frame's number") }
        let decision: StageCommand.Decision
        switch line["do"]?.string {
        case "release": decision = .release
        case "drop": decision = .drop
        case "replace":
            do throws(EncodingError) {
                guard let frame = try FrameLine(parsing: Array(line.compactText.utf8).span.bytes, others: ["do"]) else {
                    throw EncodingError("expected a frame")
                }
                decision = .replace(
                    fields: frame.fields, body: line["body"] == nil ? nil : StageCommand.Body(frame.body))
            } catch {
                throw HTTPFault(.badRequest, "\(error)")
            }
        default: throw HTTPFault(.badRequest, "expected \"do\": release, drop or replace")
        }
        let listener = state.withLock { $0.listener }
        switch await listener?.decide(.decide(direction, index: index, decision), on: connection) {
        case .done?: break
        case .notStopped?: throw HTTPFault(.conflict, "frame \(index) is not held")
        case .impossible(let reason)?: throw HTTPFault(.badRequest, "\(reason)")
        case nil: throw HTTPFault(.notFound, "connection \(connection) of the listener \(name) is not open")
        }
    }

    /// Whether a connection is, or was, one of its own.
    func has(_ connection: Int) -> Bool { state.withLock { $0.connections.all.contains(connection) } }

    /// The connections that are, or were, its own.
    var connections: Set<Int> { state.withLock { $0.connections.all } }

    var json: JSONValue {
        let (state, texts, seed) = state.withLock { state in
            switch state.rules {
            case .own(let set, let texts): (state, texts, set.seed)
            case .given(let rules): (state, rules.texts, rules.seed)
            }
        }
        return .object([
            .init("name", .text(name)), .init("listen", .text(listen ?? "\(state.listener?.place.description ?? "")")),
            .init("to", .text(server)), .init("format", format.map { .text($0.name) } ?? .null),
            .init("rules", .array(texts.map(JSONValue.text))),
            .init("breakpoints", .array(state.breakpoints.map(JSONValue.text))),
            .init("seed", .number("\(seed)")),
            .init("connections", .array(state.connections.all.sorted().map { .number("\($0)") })),
        ])
    }
}

import Framing
import Interception
import NIOHTTP1
import Proxy
import Streams
import Synchronization

/// A listener that the API has opened: one test's own.
final class ControlledListener: Sendable {
    private struct State {
        var rules: RuleSet
        var texts: [String]
        var listener: ManagedListener?
        /// The connections that it has had.
        var connections: Set<Int> = []
    }

    let name: String
    let server: HostPort
    let format: Format?
    private let state: Mutex<State>

    init(_ name: String, to server: HostPort, format: Format?, rules texts: [String], seed: UInt64) throws(HTTPFault) {
        (self.name, self.server, self.format) = (name, server, format)
        state = Mutex(State(rules: try Self.rules(texts, format, seed: seed), texts: texts))
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
    func open(at address: HostPort, of proxy: ProxyServer) async throws {
        let listener = try await proxy.open(address, to: server) { [weak self] connection in
            guard let self else { return nil }
            let rules = state.withLock { state in
                state.connections.insert(connection)
                return state.rules
            }
            return rules.stages(of: connection, format: format, isCommanded: true)
        }
        state.withLock { $0.listener = listener }
    }

    func close() async throws { try await state.withLock { $0.listener }?.close() }

    /// Sends a frame into an open connection.
    ///
    /// - Parameter line: the frame as a line of JSON, as a trace has it.
    func send(_ line: [UInt8], to connection: Int) throws(HTTPFault) {
        guard let format else {
            throw HTTPFault(.conflict, "the listener \(name) has no \"format\", which frames need")
        }
        let direction: Direction
        let bytes: [UInt8]
        do throws(EncodingError) {
            guard let frame = try FrameLine(parsing: line.span.bytes) else { throw EncodingError("expected a frame") }
            guard let from = frame.from else {
                throw EncodingError("expected \"from\": client or server, on whose behalf it is sent")
            }
            direction = from
            bytes = try format.encode(frame, from: from)
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
        let seed = state.withLock { $0.rules.seed }
        let rules = try Self.rules(texts, format, seed: seed)
        state.withLock { ($0.rules, $0.texts) = (rules, texts) }
    }

    /// Whether a connection is, or was, one of its own.
    func has(_ connection: Int) -> Bool { state.withLock { $0.connections.contains(connection) } }

    var json: JSONValue {
        state.withLock { state in
            .object([
                .init("name", .text(name)), .init("listen", .text("\(state.listener?.place.description ?? "")")),
                .init("to", .text("\(server)")), .init("format", format.map { .text($0.name) } ?? .null),
                .init("rules", .array(state.texts.map(JSONValue.text))),
                .init("seed", .number("\(state.rules.seed)")),
                .init("connections", .array(state.connections.sorted().map { .number("\($0)") })),
            ])
        }
    }
}

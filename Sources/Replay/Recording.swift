import Framing
import Streams
import Trace
import TraceDiff

/// The connections of a trace that can be replayed, all of one format.
package struct Recording: Sendable {
    /// The connections.
    package let connections: [RecordedConnection]
    /// What is masked in frames, and which secrets are repeated.
    package let rules: TraceRules

    /// The connections of a format.
    ///
    /// - Throws: `ReplayError`, if there are none.
    package init(_ trace: RecordedTrace, format: String, rules: TraceRules) throws(ReplayError) {
        connections = trace.connections.filter { $0.format == format && !$0.items.isEmpty }.map { connection in
            var connection = connection
            // A frame ended by a pause is reported when the pause is over: here, the frame that was seen first comes first.
            let items = connection.items.joiningRuns()
            connection.items = items.selecting(
                items.indices.sorted { (items.time(at: $0), $0) < (items.time(at: $1), $1) })
            return connection
        }
        var rules = rules
        rules.masks += Self.hidden(in: connections)
        self.rules = rules
        guard !connections.isEmpty else {
            throw ReplayError("\(trace.source) has no connection of the format \(format) on which anything was said")
        }
    }

    /// Masked values may be anything.
    private static func hidden(in connections: [RecordedConnection]) -> [TraceRules.Mask] {
        let paths = connections.flatMap(\.frames).flatMap { frame in
            frame.leafValues.filter { $0.value == .text(JSONRedaction.mark) }.map(\.path)
        }
        return Set(paths).map { TraceRules.Mask(TraceRules.Place(path: $0)) }
    }

    /// The name of the format that all recognised connections of a trace share.
    ///
    /// - Throws: `ReplayError`, if there is none, or more than one.
    package static func format(of trace: RecordedTrace) throws(ReplayError) -> String {
        let names = Set(trace.connections.compactMap(\.format)).sorted()
        if names.count == 1 { return names[0] }
        throw ReplayError(
            names.isEmpty
                ? "no connection has a format that was recognized; expected one to replay"
                : "there are connections of several formats, \(names.joined(separator: ", ")); name one to replay"
        )
    }

    /// Makes sure that the clients' frames can be recognized: a body that was cut is equal to none.
    package func checkRequests() throws(ReplayError) {
        for connection in connections {
            for frame in connection.frames where frame.from == .fromClient && !frame.isHeartbeat {
                guard frame.isBodyCut, !rules.masksBody(of: frame) else { continue }
                let name = frame.type.map { " (\(PrintableText.of($0)))" } ?? ""
                throw ReplayError(
                    "connection \(frame.connection), frame \(frame.index) of the client\(name): "
                        + "the body was cut when it was traced; trace it with a higher --body-limit")
            }
        }
    }

    /// Makes sure that everything that a side sent can be sent again.
    package func check(_ builder: FrameBuilder, _ from: Direction) throws(ReplayError) {
        for connection in connections {
            for item in connection.items where item.from == from { _ = try builder.bytes(of: item, filled: item) }
        }
    }
}

extension FrameEvent {
    /// Whether a trace has only a part of its body, or nothing of it.
    fileprivate var isBodyCut: Bool {
        guard case .object(let members) = body else { return false }
        if body["truncated"] != nil { return true }
        return body["length"]?.integer ?? 0 > 0 && members.allSatisfy { $0.name == "length" }
    }
}

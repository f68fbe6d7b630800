import Framing
import Streams
import Trace

/// Reports why a server could not be reached. Only the proxy knows: a live-only kind (`docs/trace.md`).
package final class ConnectFailures: Analysis {
    /// Knows of no failure yet.
    package init() {}

    /// Finds the cause of a failed connect.
    package func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        guard let detail = closing.detail else { return }
        findings.append(
            Finding(
                kind: closing.reason == .tlsFailed ? .tlsFailed : .connectFailed, severity: .error,
                connection: connection.number, format: connection.known?.format.name,
                from: .fromServer, time: closing.time, message: detail, data: []))
    }
}

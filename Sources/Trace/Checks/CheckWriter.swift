import Framing
import Streams

/// Writes what a check of a trace found for continuous integration, when the trace is over: as JUnit XML, or as annotations.
package final class CheckWriter: TraceSink {
    /// What is written.
    package enum Form: Sendable {
        /// A test case for each connection (JUnit XML).
        case junit
        /// A workflow command for each fault (GitHub Actions).
        case github
    }

    private let output: any ByteOutput
    private let form: Form
    private let source: String
    private let kinds: CheckedKinds
    private let stepSummary: (any ByteOutput)?
    private let isFile: Bool
    private var report = CheckReport()

    package var takesFrames: Bool { false }
    package var bodyLimit: Int { 0 }

    /// A writer to `output`.
    ///
    /// - Parameters:
    ///   - source: what is traced.
    ///   - isFile: whether that is the name of a file.
    ///   - kinds: what fails the check.
    ///   - stepSummary: where the summary of a step of GitHub Actions goes, as Markdown.
    package init(
        to output: any ByteOutput, _ form: Form, source: String, isFile: Bool, failing kinds: CheckedKinds,
        stepSummary: (any ByteOutput)? = nil
    ) {
        (self.output, self.form, self.source, self.kinds) = (output, form, source, kinds)
        (self.stepSummary, self.isFile) = (stepSummary, isFile)
    }

    package func opened(_ connection: TracedConnection) {
        report.opened(
            connection.connectionLeg, "\(connection.opening.client) → \(connection.opening.server)",
            at: connection.opening.time)
    }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {}

    package func missing(_ gap: Gap, on connection: TracedConnection) {
        guard kinds.includes("missing") else { return }
        fault(gap, "missing", "\(Quantities.counted(gap.byteCount, "byte")) missing", on: connection)
    }

    package func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {
        guard kinds.includes("dropped") else { return }
        let text = "\(Quantities.counted(gap.byteCount, "byte")) forwarded but not recorded: \(reason)"
        fault(gap, "dropped", text, on: connection)
    }

    private func fault(_ gap: Gap, _ kind: String, _ text: String, on connection: TracedConnection) {
        let text = "\(gap.direction.sender) at offset \(gap.offset): \(text)"
        report.add(
            CheckReport.Fault(kind: kind, text: text, isError: true, time: gap.time), to: connection.connectionLeg)
    }

    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {
        guard kinds.includes("unframed"), connection.known?.format.isFramed != false else { return }
        let count = Quantities.counted(run.byteCount, "byte")
        let detail = run.shownDetail(direction, on: connection)
        let text =
            "\(direction.sender) at offset \(run.offset): \(count) unframed, \(run.reason.rawValue): \(detail)"
        report.add(
            CheckReport.Fault(kind: "unframed", text: text, isError: true, time: run.time), to: connection.connectionLeg
        )
    }

    package func finding(_ finding: Finding) {
        guard kinds.includes(finding) else { return }
        report.add(
            CheckReport.Fault(
                kind: finding.kind.rawValue, text: finding.message, isError: finding.severity == .error,
                time: finding.time),
            to: ConnectionLeg(finding.connection, finding.leg))
    }

    /// A check of the command itself failed on a connection.
    ///
    /// - Parameters:
    ///   - kind: what it is called.
    ///   - text: in words.
    package func failed(_ kind: String, _ text: String, on connection: Int, at time: Timestamp) {
        report.add(
            CheckReport.Fault(kind: kind, text: text, isError: true, time: time), to: ConnectionLeg(connection))
    }

    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        let frames = counts.fromClient.frames + counts.fromServer.frames
        report.closed(connection.connectionLeg, frames: frames, format: connection.known?.format.name, at: closing.time)
    }

    package func summary(_ summary: Summary) {
        switch form {
        case .junit: output.write(Array(CheckJUnit.of(report, name: source).utf8))
        case .github:
            output.write(Array(CheckGitHub.of(report, name: source, isFile: isFile).utf8))
            stepSummary?.write(Array(CheckGitHub.summary(of: report, name: source).utf8))
        }
    }
}

import Expressions
import Framing
import Streams

/// Passes on the part of a trace that is wanted; the summary still counts everything.
package final class SelectingSink: TraceSink {
    private let sink: any TraceSink
    private let selection: Selection
    private var framesLeft: Int
    /// For which kinds of frames the condition holds, or does not, whatever else is in a frame.
    private var known: [ObjectIdentifier: KnownKinds] = [:]
    /// Whether the condition refers to what a frame contains, which may be secret.
    private let asksForContent: Bool

    private struct KnownKinds {
        /// Kept, so that no others take its place.
        let kinds: FrameKinds
        /// By the numbers of the kinds.
        var answers: [Answer] = []
    }

    private enum Answer { case unknown, holds, fails, dependsOnMore }

    /// Called when as many frames as wanted have been passed on.
    private let whenDone: () -> Void

    /// A sink in front of another one.
    package init(_ selection: Selection, to sink: any TraceSink, whenDone: @escaping () -> Void = {}) {
        self.selection = selection
        self.sink = sink
        self.whenDone = whenDone
        framesLeft = selection.frames ?? .max
        asksForContent = selection.condition?.paths.contains { ["fields", "body"].contains($0[0]) } ?? false
    }

    package var takesBothLegs: Bool { selection.legs.map { $0.contains(.out) } ?? sink.takesBothLegs }

    package func opened(_ connection: TracedConnection) {
        if selection.includes(connection) { sink.opened(connection) }
    }

    package func tls(_ facts: TLSFacts, at time: Timestamp, on connection: TracedConnection) {
        if selection.includes(connection.number) { sink.tls(facts, at: time, on: connection) }
    }

    package func action(_ report: ActionReport, on connection: TracedConnection) {
        // What was done is about both legs.
        if selection.includes(connection.number), selection.includes(report.time) {
            sink.action(report, on: connection)
        }
    }

    package func recognised(_ connection: TracedConnection) {
        if selection.includes(connection) { sink.recognised(connection) }
    }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard includes(connection, frame.info.time), framesLeft > 0 else { return }
        if let condition = selection.condition, !fulfils(condition, frame, bytes, connection) { return }
        if let contained = selection.contained, !holds(contained, frame, bytes, connection) { return }
        sink.frame(frame, bytes: bytes, on: connection)
        framesLeft -= 1
        if framesLeft == 0 { whenDone() }
    }

    private func fulfils(
        _ condition: Expression, _ frame: TracedFrame, _ bytes: RawSpan, _ connection: TracedConnection
    ) -> Bool {
        guard let kinds = connection.kinds(of: frame.direction) else { return false }
        func isFulfilled() -> Bool {
            var values = FrameValues(info: frame.info, direction: frame.direction, isHeartbeat: frame.isHeartbeat)
            values.connection = FrameValues.ConnectionValues(
                number: connection.number, client: connection.opening.client, server: connection.opening.server,
                time: { String(frame.info.time.rfc3339.dropLast()) })
            if asksForContent, !hidesNothing(of: frame, kinds) {
                // On what is shown, so that no one can guess a secret and ask whether it is right.
                let secrets = FrameSecrets(of: frame, bytes, kinds)
                let body = bytes.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
                values.body = secrets.shown(frame.decodedBody(of: bytes, kinds), of: body)
                if secrets.hidesFields {
                    values.shownFields = secrets.shown(kinds.format.fields(of: bytes, frame.shape))
                }
            }
            return values.fulfil(condition, content: bytes, shape: frame.shape, format: kinds.format)
        }
        guard let kind = frame.kind else { return isFulfilled() }
        return switch answer(for: kind, of: kinds, condition, frame.direction) {
        case .holds: true
        case .fails: false
        case .unknown, .dependsOnMore: isFulfilled()
        }
    }

    private func answer(
        for kind: Int, of kinds: FrameKinds, _ condition: Expression, _ direction: Direction
    ) -> Answer {
        let key = ObjectIdentifier(kinds)
        if let answers = known[key]?.answers, kind < answers.count, answers[kind] != .unknown { return answers[kind] }
        let truth = condition.truth(forType: kinds.kinds[kind].type, from: direction)
        let answer: Answer = truth.map { $0 ? .holds : .fails } ?? .dependsOnMore
        var own = known[key] ?? KnownKinds(kinds: kinds)
        if own.answers.count <= kind {
            own.answers.append(contentsOf: repeatElement(.unknown, count: kind + 1 - own.answers.count))
        }
        own.answers[kind] = answer
        known[key] = own
        return answer
    }

    private func hidesNothing(of frame: TracedFrame, _ kinds: FrameKinds) -> Bool {
        kinds.hidesNothing(frame.kind) && !frame.isSecret
    }

    /// Whether a frame has the bytes, or its decoded body. What is secret cannot be searched.
    private func holds(_ wanted: [UInt8], _ frame: TracedFrame, _ bytes: RawSpan, _ connection: TracedConnection)
        -> Bool
    {
        guard let kinds = connection.kinds(of: frame.direction) else { return false }
        let body = bytes.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
        let hidesNothing = self.hidesNothing(of: frame, kinds)
        if hidesNothing || FrameSecrets.mayDump(frame, bytes, kinds), bytes.firstRange(of: wanted, from: 0) != nil {
            return true
        }
        var decoded = frame.decodedBody(of: bytes, kinds)
        if !hidesNothing { decoded = FrameSecrets(of: frame, bytes, kinds).shown(decoded, of: body) }
        return decoded.withBytes(of: body) { $0.firstRange(of: wanted, from: 0) != nil }
    }

    package var bodyLimit: Int {
        selection.contained != nil || selection.condition?.readsBodies == true ? .max : sink.bodyLimit
    }

    package func streamed(
        _ part: StreamedPart, bytes: RawSpan, from direction: Direction, on connection: TracedConnection
    ) {
        if selection.includes(connection) {
            sink.streamed(part, bytes: bytes, from: direction, on: connection)
        }
    }

    package func missing(_ gap: Gap, on connection: TracedConnection) {
        if includes(connection, gap.time) { sink.missing(gap, on: connection) }
    }

    package func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {
        if includes(connection, gap.time) { sink.dropped(gap, reason: reason, on: connection) }
    }

    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {
        if includes(connection, run.time) { sink.unframed(run, from: direction, on: connection) }
    }

    package func finding(_ finding: Finding) {
        if selection.includes(finding.connection), selection.includes(finding.time) { sink.finding(finding) }
    }

    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        if selection.includes(connection) { sink.closed(closing, counts: counts, on: connection) }
    }

    package func summary(_ summary: Summary) { sink.summary(summary) }
    package func flush() { sink.flush() }

    private func includes(_ connection: TracedConnection, _ time: Timestamp) -> Bool {
        selection.includes(connection) && selection.includes(time)
    }
}

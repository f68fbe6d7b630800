import Framing
import Streams

/// A sink that puts lines into batches, whose frames `LineRenderer`s turn into lines on other threads. The lines are those of one
/// `LineWriter`.
package final class LineBatcher: TraceSink {
    private let form: LineForm
    private let writer: any LineWriter
    /// Whether a line depends on those before it.
    private let followsLines: Bool
    private let handOn: (LineBatch) -> LineBatch
    private let whenFlushed: () -> Void
    /// The newest lines, and the batch that they go to.
    @exclusivity(unchecked) private var content = LineBatch.Content()
    private var batch = LineBatch()
    /// The formats of frames so far, and the numbers of those that connections have.
    private var formats: [Format] = []
    private var numbers: [ObjectIdentifier: Int] = [:]
    /// Keeps what `numbers` identifies.
    private var known: [KnownFormat] = []
    @exclusivity(unchecked) private var last: (known: ObjectIdentifier?, number: Int) = (nil, 0)

    package var bodyLimit: Int { form.bodyLimit }
    package var takesBothLegs: Bool { writer.takesBothLegs }

    /// Larger frames are written at once: batches stay small.
    private static let longest = 32 << 10

    /// - Parameters:
    ///   - handOn: takes a batch, and returns an empty one.
    ///   - whenFlushed: called when everything handed on so far is to be seen.
    package init(
        _ form: LineForm, source: String, tool: String, handOn: @escaping (LineBatch) -> LineBatch,
        whenFlushed: @escaping () -> Void
    ) {
        (self.handOn, self.whenFlushed) = (handOn, whenFlushed)
        self.form = form
        writer = form.writer(source: source, tool: tool)
        content.state = writer.state
        followsLines = content.state != nil
        takeText()
    }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard let format = number(connection) else { return }
        guard bytes.byteCount <= Self.longest else {
            writer.frame(frame, bytes: bytes, on: connection)
            return takeText()
        }
        if followsLines { writer.skip(frame, bytes: bytes, on: connection) }
        content.bytes.append(contentsOf: bytes)
        if let body = frame.body?.bytes { content.decoded += body.count }
        content.frames.append(
            LineBatch.Frame(
                frame: frame, connection: connection.connectionLeg, format: format, end: content.bytes.count))
        if content.isFull { handOnBatch() }
    }

    /// The number of a connection's format; nil if it has none.
    @inline(__always)
    private func number(_ connection: TracedConnection) -> Int? {
        guard let known = connection.knownID else { return nil }
        return last.known == known ? last.number : lookUp(connection)
    }

    @inline(never)
    private func lookUp(_ connection: TracedConnection) -> Int? {
        guard let known = connection.known else { return nil }
        let number = numbers[ObjectIdentifier(known)] ?? formats.count
        if number == formats.count {
            numbers[ObjectIdentifier(known)] = number
            self.known.append(known)
            formats.append(known.format)
            batch.formats = formats
        }
        last = (ObjectIdentifier(known), number)
        return number
    }

    /// Takes the lines that were just written.
    private func takeText() {
        guard !writer.lines.isEmpty else { return }
        // Swapped out, so that its memory can be kept while its bytes are copied.
        var text: [UInt8] = []
        swap(&text, &writer.lines)
        content.text.append(contentsOf: text.span.bytes)
        text.empty(keeping: LineBatch.size)
        swap(&text, &writer.lines)
        content.texts.append(
            LineBatch.Text(framesBefore: content.frames.count, end: content.text.count, state: writer.state))
        if content.isFull { handOnBatch() }
    }

    private func handOnBatch() {
        swap(&content, &batch.content)
        batch = handOn(batch)
        batch.formats = formats
        swap(&content, &batch.content)
        content.state = writer.state
    }

    package func flush() {
        if !content.isEmpty { handOnBatch() }
        whenFlushed()
    }

    // MARK: Lines that are written at once

    package func opened(_ connection: TracedConnection) {
        writer.opened(connection)
        takeText()
    }

    package func action(_ report: ActionReport, on connection: TracedConnection) {
        writer.action(report, on: connection)
        takeText()
    }

    package func tls(_ facts: TLSFacts, at time: Timestamp, on connection: TracedConnection) {
        writer.tls(facts, at: time, on: connection)
        takeText()
    }

    package func recognised(_ connection: TracedConnection) {
        writer.recognised(connection)
        takeText()
    }

    package func missing(_ gap: Gap, on connection: TracedConnection) {
        writer.missing(gap, on: connection)
        takeText()
    }

    package func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {
        writer.dropped(gap, reason: reason, on: connection)
        takeText()
    }

    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {
        writer.unframed(run, from: direction, on: connection)
        takeText()
    }

    package func finding(_ finding: Finding) {
        writer.finding(finding)
        takeText()
    }

    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        writer.closed(closing, counts: counts, on: connection)
        takeText()
    }

    package func summary(_ summary: Summary) {
        writer.writeSummary(summary)
        takeText()
        flush()
    }
}

import Framing
import Streams

/// Gathers the lines of a trace in batches, whose frames are rendered elsewhere. Together with `LineRenderer` it writes what
/// `NDJSONWriter` writes.
package final class LineBatcher: TraceSink {
    private let writer: NDJSONWriter
    private let handOn: (LineBatch) -> LineBatch
    private let whenFlushed: () -> Void
    @exclusivity(unchecked) private var batch = LineBatch()
    /// The formats of frames so far, and the numbers of those that connections have.
    private var formats: [Format] = []
    private var numbers: [ObjectIdentifier: Int] = [:]
    /// Keeps what `numbers` identifies.
    private var known: [KnownFormat] = []
    @exclusivity(unchecked) private var last: (known: ObjectIdentifier?, number: Int) = (nil, 0)

    package var bodyLimit: Int { writer.bodyLimit }
    package var takesBothLegs: Bool { true }

    /// Larger frames are written at once: batches stay small.
    private static let longest = 32 << 10

    /// - Parameters:
    ///   - handOn: takes a batch, and returns an empty one.
    ///   - whenFlushed: called when everything handed on so far is to be seen.
    package init(
        source: String, tool: String, bodyLimit: Int, handOn: @escaping (LineBatch) -> LineBatch,
        whenFlushed: @escaping () -> Void
    ) {
        (self.handOn, self.whenFlushed) = (handOn, whenFlushed)
        writer = NDJSONWriter(source: source, tool: tool, bodyLimit: bodyLimit)
        takeText()
    }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard let known = connection.known else { return }
        guard bytes.byteCount <= Self.longest else {
            writer.frame(frame, bytes: bytes, on: connection)
            return takeText()
        }
        batch.bytes.append(contentsOf: bytes)
        if let body = frame.body?.bytes { batch.decoded += body.count }
        batch.frames.append(
            LineBatch.Frame(
                frame: frame, connection: connection.connectionLeg, format: number(known), end: batch.bytes.count))
        if batch.isFull { handOnBatch() }
    }

    @inline(__always)
    private func number(_ known: KnownFormat) -> Int {
        last.known == ObjectIdentifier(known) ? last.number : lookUp(known)
    }

    @inline(never)
    private func lookUp(_ known: KnownFormat) -> Int {
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
        guard !writer.output.bytes.isEmpty else { return }
        var text: [UInt8] = []
        swap(&text, &writer.output.bytes)
        batch.text.append(contentsOf: text.span.bytes)
        text.empty(keeping: LineBatch.size)
        swap(&text, &writer.output.bytes)
        batch.texts.append(LineBatch.Text(framesBefore: batch.frames.count, end: batch.text.count))
        if batch.isFull { handOnBatch() }
    }

    private func handOnBatch() {
        batch = handOn(batch)
        batch.formats = formats
    }

    package func flush() {
        if !batch.isEmpty { handOnBatch() }
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
        writer.write(.summary(SummaryEvent(summary)))
        takeText()
        flush()
    }
}

import Streams

/// Reads a trace, connection by connection: see `EventReader`.
package struct TraceReader: Sendable {
    private var reader = EventReader()
    private var collector = TraceCollector()
    /// Whether the trace was restarted, so that connections may reuse earlier numbers.
    private var isResumed = false

    /// A reader that has read nothing.
    package init() {}

    /// Begins with a file, or continues with another one.
    package mutating func begin(_ file: String) throws(TraceReadError) {
        try reader.begin(file)
        // One run's files follow one another; another run's have a summary before them.
        if collector.trace != nil { isResumed = true }
    }

    /// Takes bytes of the file; lines may be split anywhere.
    package mutating func read(_ bytes: RawSpan) throws(TraceReadError) {
        for (event, line) in try reader.read(bytes) { try take(event, line) }
    }

    /// The trace, now that everything was read.
    package mutating func finish() throws(TraceReadError) -> RecordedTrace {
        try reader.finish()
        var trace = collector.trace ?? RecordedTrace(source: "")
        trace.notes = reader.notes
        return trace
    }

    private mutating func take(_ event: TraceEvent, _ line: Int) throws(TraceReadError) {
        switch event {
        case .trace: if line > 1 { isResumed = true }
        case .opened(let opened):
            if collector.knows(ConnectionLeg(opened.connection, opened.leg)), !isResumed {
                throw reader.fault(
                    "connection \(opened.connection) opens a second time; expected another number", line: line)
            }
        default: break
        }
        if !collector.take(event), let number = event.connection {
            reader.note("connection \(number) was opened before; its beginning is not here", line: line)
        }
    }
}

import Streams

/// A trace collected while it is produced, by an `EventSink` on the same thread.
package final class TraceReading {
    private var collector = TraceCollector()
    private let source: String

    /// A reading of nothing yet.
    ///
    /// - Parameter source: what is traced.
    package init(of source: String) {
        self.source = source
    }

    /// The sink for the decoder's events.
    ///
    /// - Parameters:
    ///   - bodyLimit: at most how many bytes of a decoded body are kept.
    ///   - keptSide: whose frames' bytes are kept; nil: nobody's.
    package func sink(tool: String, bodyLimit: Int, keptSide: Direction? = nil) -> EventSink {
        EventSink(
            source: source, tool: tool, bodyLimit: bodyLimit,
            takeFrame: { frame, bytes, connection in
                self.collector.take(frame, bytes: bytes, on: connection, bodyLimit: bodyLimit)
                if frame.direction == keptSide { self.collector.keep(bytes, of: frame, on: connection) }
            }
        ) { self.collector.take($0) }
    }

    /// The items since the last call.
    package func takeItems() -> [RecordedItem] { collector.takeItems() }

    /// The trace so far.
    package var trace: RecordedTrace { collector.trace ?? RecordedTrace(source: source) }
}

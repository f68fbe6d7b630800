/// A trace that is put together while it comes about, by an `EventSink` on the same thread.
public final class TraceReading {
    private var collector = TraceCollector()
    private let source: String

    /// A reading of nothing yet.
    ///
    /// - Parameter source: what is traced.
    public init(of source: String) {
        self.source = source
    }

    /// What the decoder's events go to.
    ///
    /// - Parameter bodyLimit: how many bytes of a body, decoded, are kept at most.
    package func sink(tool: String, bodyLimit: Int) -> EventSink {
        EventSink(source: source, tool: tool, bodyLimit: bodyLimit) { self.collector.take($0) }
    }

    /// What was said since this was last asked for.
    package func takeItems() -> [RecordedItem] { collector.takeItems() }

    /// The trace so far.
    public var trace: RecordedTrace { collector.trace ?? RecordedTrace(source: source) }
}

/// Reads a trace while it is written: a trace of a capture has the values that its NDJSON would have.
public final class TraceReading: ByteOutput {
    private var reader = TraceReader()
    private var failure: TraceReadError?

    /// A reading of what is written next.
    ///
    /// - Parameter source: what is traced, for errors.
    public init(of source: String) {
        do {
            try reader.begin(source)
        } catch {
            failure = error
        }
    }

    /// Reads lines.
    public func write(_ bytes: [UInt8]) {
        guard failure == nil else { return }
        do {
            try reader.read(bytes.span.bytes)
        } catch {
            failure = error
        }
    }

    /// What was said since this was last asked for.
    package func takeItems() throws(TraceReadError) -> [RecordedItem] {
        if let failure { throw failure }
        return reader.takeItems()
    }

    /// The trace, when all of it was written.
    public func finish() throws(TraceReadError) -> RecordedTrace {
        if let failure { throw failure }
        return try reader.finish()
    }
}

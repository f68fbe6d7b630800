import Trace

/// A trace on its way into a file of the page: everything is stored as it comes.
package final class PageRecording {
    /// Where a decoder puts its trace.
    package let sink: PageSink
    private let store: EventStore

    /// - Throws: a `CustomStringConvertible` if there is no room for temporary files.
    package init(source: String, tool: String) throws {
        let store = try EventStore()
        let queue = PageQueue(.waits)
        queue.whenFilled { while let batch = queue.take() { store.take(batch.items, lost: batch.lost) } }
        self.store = store
        sink = PageSink(queue, source: source, tool: tool, hasPackets: false)
    }

    /// The file, when the trace has ended.
    ///
    /// - Parameter report: the report as JSON.
    package func file(report: [UInt8]) -> [UInt8] { PageFile.bytes(store, report: report) }
}

import Framing
import Pipeline
import Streams
import Trace

/// Segments the bytes of one side into frames, as a trace would contain them. What the other side says counts, too:
/// frames may depend on it, as an answer does on its request.
package final class IncomingFrames {
    private let reading = TraceReading(of: "connection")
    private let decoder: Decoder
    private let connection: any ConnectionReceiver
    private let from: Direction

    /// The frames of one side of a connection that has just opened.
    package init(_ format: Format, from: Direction, at time: Timestamp) {
        self.from = from
        let sink = reading.sink(tool: "", bodyLimit: .max)
        decoder = Decoder(DecodingOptions(.fixed(format)), analyses: [], sinks: [sink])
        let nobody = Endpoint(IPAddress(v4: 0), 0)
        connection = decoder.open(Opening(number: 1, time: time, client: nobody, server: nobody))
    }

    /// The frames that the bytes complete.
    package func take(_ bytes: RawSpan, at time: Timestamp) -> [RecordedItem] {
        decoder.advance(to: time)
        connection.received(bytes, from: from, at: time, packet: 0)
        return takeItems()
    }

    /// The other side sends these bytes. Call it before an answer can arrive.
    ///
    /// - Returns: the frames that this completes: bytes may wait for what they depend on.
    package func note(sent bytes: RawSpan, at time: Timestamp) -> [RecordedItem] {
        decoder.advance(to: time)
        if bytes.byteCount > 0 { connection.received(bytes, from: from.opposite, at: time, packet: 0) }
        return takeItems()
    }

    /// The frames that a pause completes.
    package func advance(to time: Timestamp) -> [RecordedItem] {
        decoder.advance(to: time)
        return takeItems()
    }

    /// What is left when the sender has finished.
    package func finish(at time: Timestamp) -> [RecordedItem] {
        decoder.advance(to: time)
        connection.finished(.fin, from: from, at: time)
        return takeItems()
    }

    private func takeItems() -> [RecordedItem] { reading.takeItems().filter { $0.from == from } }
}

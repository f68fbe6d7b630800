import Framing
import Pipeline
import Streams
import Trace

/// Segments the bytes of one side into frames, as a trace would contain them.
package final class IncomingFrames {
    private let reading = TraceReading(of: "connection")
    private let decoder: Decoder
    private let connection: any ConnectionReceiver
    private let from: Direction

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
        return reading.takeItems()
    }

    /// The frames that a pause completes.
    package func advance(to time: Timestamp) -> [RecordedItem] {
        decoder.advance(to: time)
        return reading.takeItems()
    }

    /// What is left when the sender has finished.
    package func finish(at time: Timestamp) -> [RecordedItem] {
        decoder.advance(to: time)
        connection.finished(.fin, from: from, at: time)
        return reading.takeItems()
    }
}

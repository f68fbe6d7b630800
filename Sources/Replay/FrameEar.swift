import Framing
import Pipeline
import Streams
import Trace

/// Cuts the bytes of one side into frames, as a trace would have them.
final class FrameEar {
    private let reading = TraceReading(of: "connection")
    private let decoder: Decoder
    private let connection: any ConnectionReceiver
    private let from: Direction

    init(_ format: Format, hearing from: Direction, at time: Timestamp) {
        self.from = from
        let writer = NDJSONWriter(to: reading, source: "", tool: "", bodyLimit: .max)
        decoder = Decoder(DecodingOptions(.fixed(format)), analyses: [], sinks: [writer])
        let nobody = Endpoint(IPAddress(v4: 0), 0)
        connection = decoder.open(Opening(number: 1, time: time, client: nobody, server: nobody))
    }

    /// What the bytes complete.
    func heard(_ bytes: RawSpan, at time: Timestamp) throws(ReplayError) -> [RecordedItem] {
        decoder.advance(to: time)
        connection.received(bytes, from: from, at: time, packet: 0)
        return try taken()
    }

    /// What a pause completes.
    func waited(until time: Timestamp) throws(ReplayError) -> [RecordedItem] {
        decoder.advance(to: time)
        return try taken()
    }

    private func taken() throws(ReplayError) -> [RecordedItem] {
        decoder.flush()
        do throws(TraceReadError) {
            return try reading.takeItems()
        } catch {
            throw ReplayError("\(error)")
        }
    }
}

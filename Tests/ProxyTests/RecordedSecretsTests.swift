import Framing
import Pipeline
import Streams
import TestSupport
import Testing

@testable import Proxy
@testable import frametap

/// The secrets of TLS connections in a series of captures.
@Suite struct RecordedSecretsTests {
    @Test func eachFileHasThoseOfConnectionsThatAreOpen() throws {
        let start = Timestamp(seconds: 1_795_248_000, nanoseconds: 0)
        let series = FileSeries(limit: 3_000, interval: Interval(nanoseconds: 3_600_000_000_000))
        let recorder = PacketRecorder(to: series, tool: "tests", start: start)
        let server = Endpoint(IPAddress(v4: 0x7f00_0001), 8_088)
        let names = ["one", "two"]
        for (place, name) in names.enumerated() {
            let client = Endpoint(IPAddress(v4: 0x7f00_0001), UInt16(40_000 + place))
            recorder.opened(Opening(number: place + 1, time: start, client: client, server: server))
            recorder.learned(Array("CLIENT_RANDOM 00 \(name)\n".utf8), of: ConnectionLeg(place + 1))
        }
        // Of one that is not recorded, they are there once.
        recorder.learned(Array("CLIENT_RANDOM 00 three\n".utf8), of: nil)
        func fill(_ count: Int) {
            let bytes = [UInt8](repeating: 7, count: 1_000)
            for _ in 0..<count {
                recorder.received(bytes.span.bytes, on: ConnectionLeg(2), from: .fromClient, at: start)
            }
            recorder.flush()
        }
        fill(6)
        let before = series.all.count
        recorder.closed(ConnectionLeg(1))
        fill(6)
        recorder.finish(at: start)
        #expect(before > 2 && series.all.count > before + 1)
        for (place, file) in series.all.enumerated() {
            let text = String(decoding: file, as: UTF8.self)
            #expect(text.contains("00 two") && text.contains("00 three") == (place == 0), "file \(place)")
            #expect(text.contains("00 one") == (place < before), "file \(place)")
            let decoded = DecodedCapture(file, options: DecodingOptions(.fixed(try FormatOptions.format("chunk"))))
            #expect(decoded.damage == nil)
        }
    }
}

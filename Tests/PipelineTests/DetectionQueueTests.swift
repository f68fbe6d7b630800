import Analysis
import Framing
import Streams
import Testing

@testable import Pipeline

/// A limited number of connections have formats on trial at once: fewer if there are many whose format is not known.
@Suite struct DetectionQueueTests {
    @Test(arguments: [(1, 300), (16_384, 300), (16_385, 128), (20_000, 128)])
    func theFirstGoToSleep(undecided: Int, awake: Int) throws {
        let plans = try BuiltInFormats.all().compactMap { TrialPlan($0) }
        var queue = DetectionQueue(limit: 300)
        for _ in 0..<undecided + 5 { queue.began() }
        for _ in 0..<5 { queue.ended() }
        var detections: [Detection] = []
        for packet in 0..<500 {
            let detection = Detection(plans, aligned: true, limit: 1 << 16, port: 1)
            let choice = detection.receive(
                [0].span.bytes, from: .fromClient, at: Timestamp(nanoseconds: 1), packet: packet)
            #expect(choice == nil && detection.isAwake)
            queue.add(detection)
            detections.append(detection)
        }
        #expect(detections.map(\.isAwake) == (0..<500).map { $0 >= 500 - awake })
    }

    /// The queue keeps a detection that is over, but none of what it held.
    @Test func whatIsOverHoldsNothing() throws {
        let plans = try BuiltInFormats.all().compactMap { TrialPlan($0) }
        let detection = Detection(plans, aligned: true, limit: 1 << 16, port: 1)
        let bytes = [UInt8](repeating: 0x61, count: 1_000)
        let time = Timestamp(nanoseconds: 1)
        _ = detection.receive(bytes.span.bytes, from: .fromClient, at: time, packet: 1)
        let packet = NoticedPacket(from: .fromClient, time: time, number: 2)
        #expect(detection.notice(.conflict(offset: 0, kept: bytes, other: bytes), packet))
        #expect(detection.memory > 3_000)
        detection.end()
        #expect(detection.memory == 0)
    }

    /// One that wakes with the first bytes after it was put to sleep is put to sleep again: its trials take no memory.
    @Test func whatWakesIsQueuedAgain() throws {
        func held(detections: Int) throws -> Int {
            var options = DecodingOptions(.automatic(try BuiltInFormats.all()))
            options.awakeDetections = detections
            let decoder = Decoder(options, sinks: [])
            let end = Endpoint(IPAddress(v4: 0x0a00_0001), 9_000)
            let time = Timestamp(nanoseconds: 1)
            let connection = decoder.open(Opening(number: 1, time: time, client: end, server: end))
            // A line, or its beginning: nothing rules that out.
            for count in [1, 600] {
                let bytes = [UInt8](repeating: 0x61, count: count)
                connection.received(bytes.span.bytes, from: .fromClient, at: time, packet: 1)
            }
            return decoder.heldMemory
        }
        let (asleep, awake) = (try held(detections: 0), try held(detections: 1))
        #expect(asleep + 1_536 <= awake, "\(asleep) and \(awake)")
    }
}

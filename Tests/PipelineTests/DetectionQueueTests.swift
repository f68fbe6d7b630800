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

    /// One that wakes again, with the first bytes after it was put to sleep, is among the awake ones again.
    @Test func whatWakesIsQueuedAgain() throws {
        let detection = Detection(
            try BuiltInFormats.all().compactMap { TrialPlan($0) }, aligned: true, limit: 1 << 16, port: 1)
        var queue = DetectionQueue(limit: 1)
        func receive(_ count: Int) {
            let bytes = [UInt8](repeating: 0, count: count)
            _ = detection.receive(bytes.span.bytes, from: .fromClient, at: Timestamp(nanoseconds: 1), packet: 1)
        }
        receive(1)
        queue.add(detection)
        #expect(detection.isAwake && detection.isQueued)
        detection.sleep()
        #expect(!detection.isAwake && !detection.isQueued)
        receive(300)
        #expect(detection.isAwake && !detection.isQueued, "the decoder adds it")
    }
}

import Streams
import Testing

@testable import Trace

/// A subscriber that is too slow loses the oldest events, and is notified of how many.
@Suite struct EventQueueTests {
    private func event(_ number: Int) -> TraceEvent {
        let time = Timestamp(nanoseconds: Int64(number))
        return .missing(RunEvent(connection: 1, from: .fromClient, time: time, offset: number, length: 1))
    }

    private func numbers(_ batch: EventQueue.Batch?) -> [Int] {
        batch?.events.compactMap { if case .missing(let run) = $0 { run.offset } else { nil } } ?? []
    }

    @Test func whoIsFastEnoughGetsAll() {
        let queue = EventQueue(limit: 4)
        for round in 0..<100 {
            for number in 0..<4 { queue.put(event(round * 4 + number)) }
            let batch = queue.take()
            #expect(batch?.lost == 0 && numbers(batch) == (0..<4).map { round * 4 + $0 })
        }
        #expect(queue.take() == EventQueue.Batch())
        queue.finish()
        #expect(queue.take() == nil)
    }

    /// Lost and delivered events together are all events that were added.
    @Test(arguments: [1, 2, 3, 4, 10, 100]) func whoIsTooSlowLearnsHowManyAreLost(limit: Int) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let queue = EventQueue(limit: limit)
        var (put, taken) = (0, 0)
        for _ in 0..<500 {
            for _ in 0..<Int.random(in: 0...3 * limit, using: &generator) {
                queue.put(event(put))
                put += 1
            }
            let batch = queue.take() ?? EventQueue.Batch()
            #expect(batch.events.count <= limit, "seed \(seed)")
            let first = taken + batch.lost
            #expect(numbers(batch) == Array(first..<first + batch.events.count), "seed \(seed)")
            taken = first + batch.events.count
            #expect(taken == put, "seed \(seed)")
        }
    }

    @Test func aSubscriberWaitsForEvents() async {
        let queue = EventQueue(limit: 1_000)
        let subscriber = Task { () -> (events: [Int], lost: Int) in
            var (events, lost) = ([Int](), 0)
            while let batch = await queue.next() {
                events += numbers(batch)
                lost += batch.lost
            }
            return (events, lost)
        }
        for number in 0..<50_000 {
            queue.put(event(number))
            if number % 500 == 0 { await Task.yield() }
        }
        queue.finish()
        let (events, lost) = await subscriber.value
        #expect(events.count + lost == 50_000 && events == events.sorted() && Set(events).count == events.count)
        #expect(events.last == 49_999)
    }
}

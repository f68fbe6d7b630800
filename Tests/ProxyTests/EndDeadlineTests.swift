import Testing

@testable import frametap

/// What happens to queued data once a signal has requested the end.
@Suite struct EndDeadlineTests {
    private static let second: UInt64 = 1_000_000_000

    /// A recorder that needs a minute, with readers that keep up, drops nothing, and the process does not end before it.
    @Test func aSlowRecorderGoesOn() {
        let deadline = EndDeadline()
        #expect(!deadline.hasPassed(at: .max) && !deadline.dropsRest(at: .max))
        let start = 100 * Self.second
        deadline.set(at: start)
        for elapsed in 1...60 {
            let now = start + UInt64(elapsed) * Self.second + 1
            #expect(deadline.hasPassed(at: now) && !deadline.dropsRest(at: now))
            #expect(deadline.remainingPause(at: now) > 0)
            deadline.advance(at: now)
        }
    }

    @Test func aReaderThatHasStoppedIsNotWaitedFor() {
        let deadline = EndDeadline()
        let start = 100 * Self.second
        deadline.set(at: start)
        deadline.abandonReader()
        #expect(!deadline.dropsRest(at: start + Self.second))
        #expect(deadline.dropsRest(at: start + Self.second + 1))
    }

    /// A reader may pause for a second, as often as it likes; a second one that has stopped is not waited for as long.
    @Test func aSlowReaderIsNotGivenUp() {
        let deadline = EndDeadline()
        let start = 100 * Self.second
        #expect(!deadline.abandonsReader(silentSince: 0, at: start))
        deadline.set(at: start)
        // It was silent before the signal, too.
        #expect(!deadline.abandonsReader(silentSince: 0, at: start + Self.second))
        #expect(deadline.abandonsReader(silentSince: 0, at: start + Self.second + 1))
        for elapsed in 1...60 {
            let now = start + UInt64(elapsed) * Self.second + 1
            #expect(!deadline.abandonsReader(silentSince: now - Self.second, at: now))
            #expect(deadline.abandonsReader(silentSince: now - Self.second - 1, at: now))
        }
        deadline.abandonReader()
        let now = start + 61 * Self.second
        #expect(deadline.abandonsReader(silentSince: now, at: now))
    }

    @Test func whatDoesNotAdvanceEnds() {
        let deadline = EndDeadline()
        let start = 100 * Self.second
        deadline.set(at: start)
        #expect(deadline.remainingPause(at: start + 4 * Self.second) == Self.second)
        #expect(deadline.remainingPause(at: start + 5 * Self.second) == 0)
    }
}

import Testing

@testable import Proxy

/// The decisions of a relay's ends, without sockets.
@Suite struct RelayValueTests {
    @Test func readingNeedsAWishATakerRoomAndNoPause() {
        for bits in 0..<16 {
            let (isWanted, isTaken, isPaused, hasRoom) = (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0, bits & 8 > 0)
            var gate = ReadGate()
            if isWanted { gate.want() }
            gate.isPaused = isPaused
            var asked = false
            let step = gate.step(isTaken: isTaken) {
                asked = true
                return hasRoom
            }
            let mayRead = isWanted && isTaken && !isPaused
            #expect(step == (!mayRead ? .wait : hasRoom ? .read : .awaitRecorder), "\(bits)")
            #expect(asked == mayRead, "the recorder is asked last")
            #expect(gate.isWanted == (isWanted && step != .read) && gate.waitsForRecorder == (step == .awaitRecorder))
            // Nothing is read until the recorder has caught up, and then once.
            if step == .awaitRecorder {
                #expect(gate.step(isTaken: true) { true } == .wait)
                gate.recorderHasRoom()
                #expect(gate.step(isTaken: true) { true } == .read)
                #expect(gate.step(isTaken: true) { true } == .wait)
            }
        }
    }

    @Test func whatAClosedChannelMeans() {
        for bits in 0..<16 {
            var state = EndState(isUnix: bits & 1 > 0)
            (state.hasInputEnded, state.isOutputClosed) = (bits & 2 > 0, bits & 4 > 0)
            let isStopping = bits & 8 > 0
            let closing = state.close(isStopping: isStopping)
            let expected: EndState.Closing =
                isStopping
                ? .lost
                : state.isOutputClosed && !state.hasInputEnded
                    ? .inputEnded
                    : state.hasInputEnded && (state.isUnix || state.isOutputClosed) ? .departed : .lost
            #expect(closing == expected && state.hasDeparted == (closing == .departed), "\(bits)")
            #expect(state.isOver == (closing == .inputEnded), "\(bits)")
        }
        // After an error the rest is known.
        var state = EndState(isUnix: true)
        state.hasInputEnded = true
        #expect(state.lose() && !state.lose())
        #expect(state.close(isStopping: false) == .lost && !state.hasDeparted)
    }
}

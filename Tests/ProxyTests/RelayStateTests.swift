import Streams
import Testing

@testable import Proxy

@Suite struct RelayStateTests {
    @Test(arguments: Direction.allCases) func aFINIsPassedOnAndTheOtherDirectionGoesOn(_ first: Direction) {
        var state = RelayState()
        #expect(state.finish(first) == [.record(.fin, first), .passOnEnd(of: first)])
        #expect(!state.isOver)
        #expect(state.finish(first) == [], "a side ends once")
        let second = first.opposite
        #expect(state.finish(second) == [.record(.fin, second), .passOnEnd(of: second)])
        #expect(state.isOver)
    }

    @Test(arguments: Direction.allCases) func aLostSideResetsTheOther(_ lost: Direction) {
        var state = RelayState()
        #expect(state.lose(lost) == [.record(.reset, lost), .reset(receiverOf: lost)])
        #expect(state.isOver)
        #expect(state.lose(lost) == [] && state.lose(lost.opposite) == [], "the other side was reset by us")
        #expect(state.finish(lost.opposite) == [])
    }

    @Test(arguments: Direction.allCases, Direction.allCases)
    func aResetAfterOneFINIsStillOne(_ finished: Direction, _ lost: Direction) {
        var state = RelayState()
        _ = state.finish(finished)
        #expect(state.lose(lost) == [.record(.reset, lost), .reset(receiverOf: lost)])
        #expect(state.isOver)
    }

    @Test func afterBothFINsTheSocketsGoQuietly() {
        var state = RelayState()
        _ = state.finish(.fromServer)
        _ = state.finish(.fromClient)
        #expect(Direction.allCases.allSatisfy { state.lose($0) == [] })
    }

    @Test func beingStoppedIsNobodysDoing() {
        var state = RelayState()
        _ = state.finish(.fromClient)
        state.stop()
        #expect(state.isOver)
        #expect(Direction.allCases.allSatisfy { state.lose($0) == [] && state.finish($0) == [] })
    }

    @Test func statesAreEqualWhereTheyDoTheSame() {
        var (left, right) = (RelayState(), RelayState())
        #expect(left == right && left.hashValue == right.hashValue)
        _ = left.finish(.fromClient)
        #expect(left != right)
        _ = right.finish(.fromClient)
        #expect(left == right && left.hashValue == right.hashValue)
    }
}

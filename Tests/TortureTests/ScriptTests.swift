import Framing
import Replay
import Streams
import Testing
import Trace
import TraceDiff

@testable import Torture

/// What a client does, in order.
@Suite struct ScriptTests {
    /// A message of another connection ends what may be one write, as does whatever else is not a message.
    @Test func onlyMessagesOfOneConnectionAreJoined() throws {
        let format = try FormatLoader.load(Conversation.sizedFormat, file: "test.yaml")
        let one = try Conversation.recording(
            format, [(.fromClient, [0, 1, 1, 0x61]), (.fromClient, [0, 1, 2, 0x62])])
        func script(_ recording: Recording) throws -> Script {
            try Script(recording, FrameBuilder(format, recording), includesHeartbeats: false)
        }
        let single = try script(one)
        #expect(single.pipeline(from: 0, atMost: 5) == 0..<2)
        #expect(single.pipeline(from: 0, atMost: 1) == 0..<1)
        // At the same times on another connection: the messages of both take turns.
        var trace = RecordedTrace(source: "test")
        trace.connections = one.connections + one.connections
        trace.connections[1].number = 2
        let both = try script(Recording(trace, format: format.name, rules: TraceRules()))
        #expect(both.messages.map(\.connection) == [0, 1, 0, 1])
        #expect(both.pipeline(from: 0, atMost: 5) == 0..<1)
    }
}

import Streams
import Testing

@testable import Framing
@testable import Trace

/// How much of a capture a format frames.
@Suite struct FormatTrialTests {
    /// The frame before a failure is one of the same connection: what is over is forgotten.
    @Test(arguments: [false, true]) func theFrameBeforeAFailureIsNamed(isAnother: Bool) throws {
        let trial = FormatTrial()
        let script = try Script(trial)
        script.open()
        try script.text("Hello")
        if isAnother {
            script.close(at: 21, client: counts(framed: 95, frames: 1))
            script.open(at: 22)
        }
        let run = UnframedRun(
            offset: 95, bytes: [1, 2, 3], time: start + .milliseconds(23), reason: .badHead, detail: "no head")
        trial.unframed(run, from: .fromClient, on: try #require(script.connections[1]))
        script.close(at: 24, client: counts(unframed: 3))
        let text = trial.lines("chat.pcap").joined(separator: "\n")
        let context = isAnother ? "at the beginning of what is framed" : "after frame 0 (txt, 95 bytes at 0)"
        #expect(text.contains("client, offset 95, \(context):"), "\(text)")
    }
}

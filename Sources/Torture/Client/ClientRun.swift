import Expressions
import Framing
import Interception
import Pipeline
import Proxy
import Streams
import Trace

/// A client's conversation with its server through a proxy that segments what the server says.
struct ClientRun: Sendable {
    let client: ClientProcess
    let server: HostPort
    let format: Format
    let seed: UInt64

    /// How the server's frames are written.
    enum Segments: Hashable, Sendable {
        /// Each by itself.
        case alone
        /// All in the same way.
        case all(Segmentation)
        /// Single frames: at these offsets.
        case cuts([Frame: [Int]])
        /// From this frame on, as many as the segmentation joins.
        case joined(Frame, Segmentation)
    }

    /// A frame of the server.
    struct Frame: Hashable, Sendable {
        var connection: Int
        var index: Int
    }

    /// What came of a run.
    struct Outcome: Sendable {
        var exit: ClientProcess.Exit
        var trace: RecordedTrace
        /// The server's frames.
        var frames: [AnatomySink.Entry]
        /// How many segmentations the proxy has made, and how many of them were proven.
        var cuts = 0
        var proven = 0
    }

    /// Runs the client once.
    func run(_ segments: Segments, atMost time: Duration) async throws -> Outcome {
        var options = ProxyOptions(listen: HostPort(host: "127.0.0.1", port: 0), to: server)
        let rules = RuleSet(try rules(segments), seed: seed)
        options.stages = { [format] connection, _ in rules.stages(of: connection, format: format) }
        // Secrets are compared, too; reports say only how many frames differ.
        var plain = format
        plain.secrets = []
        let decoding = DecodingOptions(.fixed(plain))
        let exit = Exit()
        let record: @Sendable (RecordingQueue) -> (RecordedTrace, [ActionEvent], [AnatomySink.Entry]) = { queue in
            var collector = TraceCollector()
            var actions: [ActionEvent] = []
            let anatomies = AnatomySink(.fromServer)
            let sink = EventSink(source: "client", tool: "frametap", bodyLimit: .max) { event in
                if case .action(let action) = event { actions.append(action) }
                collector.take(event)
            }
            let decoder = Decoder(decoding, analyses: [], sinks: [sink, anatomies])
            Recorder(queue: queue, decoder: decoder, packets: nil, patience: .milliseconds(20)).run { _ in }
            return (collector.trace ?? RecordedTrace(source: "client"), actions, anatomies.entries)
        }
        let (trace, actions, frames) = try await RecordedProxy.run(options, record) { place in
            await exit.set(try await client.run(host: place.host, port: place.port, atMost: time))
        }
        guard let ended = await exit.value else { throw TortureError("the client did not run") }
        var outcome = Outcome(exit: ended, trace: trace, frames: frames)
        for action in actions {
            outcome.cuts += 1
            if action.report.isProven ?? false { outcome.proven += 1 }
        }
        return outcome
    }

    private actor Exit {
        private(set) var value: ClientProcess.Exit?
        func set(_ exit: ClientProcess.Exit) { value = exit }
    }

    private func rules(_ segments: Segments) throws -> [Rule] {
        func rule(_ segmentation: Segmentation, _ change: (inout Rule) -> Void = { _ in }) -> Rule {
            var rule = Rule(name: "torture", action: .frame(.segment(segmentation)), from: .fromServer)
            change(&rule)
            return rule
        }
        // Of several rules for a frame the last one decides.
        let base = rule(.at([]))
        switch segments {
        case .alone: return [base]
        case .all(let segmentation): return [rule(segmentation)]
        case .cuts(let cuts):
            return [base]
                + cuts.map { frame, offsets in
                    rule(.at(offsets)) {
                        ($0.connection, $0.selection.nth) = (frame.connection, frame.index + 1)
                    }
                }
        case .joined(let frame, let segmentation):
            let count = segmentation.frameCount
            let condition = try Expression(parsing: "index >= \(frame.index) and index < \(frame.index + count)")
            return [base]
                + [
                    rule(segmentation) {
                        $0.connection = frame.connection
                        $0.selection.when = condition
                    }
                ]
        }
    }
}

extension Segmentation {
    /// How many frames it joins, the half one included.
    fileprivate var frameCount: Int {
        switch self {
        case .merge(let count, _): count
        case .mergeAndHalf(let count, _): count + 1
        default: 1
        }
    }
}

import ArgumentParser
import Streams
import Trace

/// A leg of connections with rules, as options name it.
enum LegOption: String, ExpressibleByArgument, CaseIterable {
    case `in`, out

    /// The leg.
    var leg: Leg { self == .in ? .in : .out }

    /// A trace with what was said on the leg.
    func of(_ trace: RecordedTrace) -> RecordedTrace { self == .in ? trace : trace.ofWhatWasPassedOn }
}

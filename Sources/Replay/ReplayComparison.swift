import Trace
import TraceDiff

/// Compares what a server actually sent with the recording.
package enum ReplayComparison {
    /// Their differences.
    package static func compare(
        _ recording: Recording, _ actual: RecordedTrace, _ comparison: Comparison
    ) -> TraceDifference {
        var expected = RecordedTrace(source: "recording")
        expected.connections = recording.connections
        return TraceComparison.compare(expected: expected, actual: actual, comparison)
    }
}

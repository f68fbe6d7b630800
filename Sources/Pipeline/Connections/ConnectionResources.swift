import Framing
import Streams

/// What the connections of one decoder share. It knows none of them but as holders of memory and receivers of deadlines.
final class ConnectionResources {
    let options: DecodingOptions
    let output: TraceOutput
    let plans: FormatPlans
    /// What framers and detections may hold.
    let budget: MemoryBudget
    let scratch = FramingScratch()
    /// Working memory of whichever connection gets bytes, taken and given back as a whole.
    @exclusivity(unchecked) var picks: [FrameSieve.Pick] = []
    /// Connections whose formats are on trial: only so many at once, for the sake of memory.
    private var detections = DetectionQueue()

    init(_ options: DecodingOptions, _ output: TraceOutput) {
        (self.options, self.output) = (options, output)
        plans = FormatPlans(options, output)
        budget = MemoryBudget(limit: options.memoryLimit)
    }

    /// A connection's formats are on trial from now on.
    func queue(_ detection: Detection) { detections.add(detection) }
}

import Framing
import Streams
import Trace

/// Shared by all connections of one decoder. It knows them only as holders of memory and receivers of deadlines.
final class ConnectionResources {
    let options: DecodingOptions
    let output: TraceOutput
    let plans: FormatPlans
    /// The memory budget of framers and detections.
    let budget: MemoryBudget
    let scratch: FramingScratch
    /// The secrets with which TLS is decrypted; nil if it is not looked at.
    let keys: TLSKeys?
    /// Brings the legs of connections together.
    let legs: ConnectionLegs
    /// Working memory for whichever connection receives bytes, borrowed and returned as a whole.
    @exclusivity(unchecked) var picks: [FrameSieve.Pick] = []
    /// Connections whose formats are on trial: only a limited number at once, to bound memory.
    private var detections: DetectionQueue

    init(_ options: DecodingOptions, _ output: TraceOutput) {
        (self.options, self.output) = (options, output)
        plans = FormatPlans(options, output)
        budget = MemoryBudget(limit: options.memoryLimit)
        scratch = FramingScratch()
        legs = ConnectionLegs()
        detections = DetectionQueue(limit: options.awakeDetections)
        keys = options.tls.map { TLSKeys($0.keyLog, more: $0.more) }
    }

    /// The resources of the legs on which the proxy passed something on: they share the limits of the others.
    init(outLegOf other: ConnectionResources) {
        (options, output) = (other.options, other.output.outLeg())
        plans = FormatPlans(options, output)
        (budget, scratch, keys, legs) = (other.budget, other.scratch, other.keys, other.legs)
        detections = DetectionQueue(limit: options.awakeDetections)
    }

    /// What unpacks the connections of a format that was chosen in one way.
    func packedConnections(of plan: FormatPlan?, _ choice: SharedChoice?) -> PackedConnections {
        let key = PackedKey(plan: plan.map { ObjectIdentifier($0) }, choice: choice.map { ObjectIdentifier($0) })
        if let known = packed[key]?.connections, known.plan === plan, known.choice === choice { return known }
        if packed.count >= 1_024 { packed = packed.filter { $0.value.connections != nil } }
        let connections = PackedConnections(self, plan, choice)
        if packed.count < 1_024 { packed[key] = KnownPacked(connections: connections) }
        return connections
    }

    /// Those of each format and choice, within a limit.
    private var packed: [PackedKey: KnownPacked] = [:]

    private struct PackedKey: Hashable {
        var plan: ObjectIdentifier?
        var choice: ObjectIdentifier?
    }

    /// Weak, since they refer to the resources.
    private struct KnownPacked {
        weak var connections: PackedConnections?
    }

    /// The search for a connection's format, from its first bytes on.
    ///
    /// - Parameter isNew: whether it begins now; not if the connection was packed.
    func detection(of connection: TracedConnection, isNew: Bool) -> Detection {
        if isNew { detections.began() }
        return Detection(
            plans.trials, aligned: connection.opening.handshake, limit: options.detectionLimit,
            port: connection.opening.server.port)
    }

    /// A connection's formats are on trial from now on.
    func queue(_ detection: Detection) { detections.add(detection) }

    /// The format of a connection is known, or not looked for any more.
    func endDetection() { detections.ended() }
}

import Streams

/// What a rule does to all bytes of a connection, whatever they are.
package enum LinkAction: Hashable, Sendable {
    /// They pass later, in order.
    case latency(Interval, jitter: Interval)
    /// At most this many bytes a second pass.
    case rate(bytesPerSecond: Int)
    /// Nothing passes for this long, once this many bytes have passed.
    case stall(Interval, after: Int)
    /// The connection is closed once this many bytes have passed.
    case limit(Int, Ending)
    /// Both sides are reset once this many bytes have passed.
    case reset(after: Int)
    /// The client is reset before anything passes.
    case refuse
    /// The direction ends with a FIN once this many bytes have passed; what follows is discarded.
    case halfClose(after: Int)
    /// Nothing passes any more once this many bytes have passed, and nobody is notified.
    case blackhole(after: Int)
    /// Bytes pass in pieces of this size, more or less by this much, with a pause between them.
    case slice(size: Int, variation: Int, pause: Interval)
    /// Ends pass later.
    case slowClose(Interval)
    /// Nothing passes, and the connection is closed after this long; nil: never.
    case timeout(Interval?)
    /// Both sides are reset after this long.
    case resetLater(Interval)

    /// Its name in rule files.
    var name: String {
        switch self {
        case .latency: "latency"
        case .rate: "rate"
        case .stall: "stall"
        case .limit: "limit"
        case .reset: "reset"
        case .refuse: "refuse"
        case .halfClose: "half-close"
        case .blackhole: "blackhole"
        case .slice: "slice"
        case .slowClose: "slow-close"
        case .timeout: "timeout"
        case .resetLater: "reset"
        }
    }
}

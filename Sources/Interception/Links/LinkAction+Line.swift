import Streams

/// What a line has to know of an action.
extension LinkAction {
    /// Equal for actions that differ in their numbers only.
    var kind: String { if case .resetLater = self { "reset-later" } else { name } }

    /// After how many bytes something happens; nil if it applies to all.
    var threshold: Int? {
        switch self {
        case .stall(_, let count), .limit(let count, _), .reset(let count), .halfClose(let count),
            .blackhole(let count):
            count
        case .latency, .rate, .refuse, .slice, .slowClose, .timeout, .resetLater: nil
        }
    }

    /// With which byte that happens, from 1: what ends a direction does so with the last one that passes, everything else happens
    /// with the next one.
    var trigger: Int? {
        switch self {
        case .limit(let count, _), .reset(let count), .halfClose(let count): max(1, count)
        case .stall(_, let count), .blackhole(let count): count + 1
        case .latency, .rate, .refuse, .slice, .slowClose, .timeout, .resetLater: nil
        }
    }

    /// How it slows all bytes, in words; nil if it does something else.
    var slowing: String? {
        switch self {
        case .latency(let amount, let jitter) where jitter.nanoseconds > 0:
            "from here on \(amount.inMilliseconds) later, and up to \(jitter.inMilliseconds) more"
        case .latency(let amount, _): "from here on \(amount.inMilliseconds) later"
        case .rate(let rate): "from here on at most \(rate) bytes a second"
        case .slice(let size, _, _): "from here on in pieces of about \(size) bytes"
        case .stall, .limit, .reset, .refuse, .halfClose, .blackhole, .slowClose, .timeout, .resetLater: nil
        }
    }
}

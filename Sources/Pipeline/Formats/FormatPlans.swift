import Framing
import Streams

/// The plans of one decoder: each is made when the first connection needs it.
final class FormatPlans {
    private let options: DecodingOptions
    private let output: TraceOutput
    private var fixed: FormatPlan?
    private var automatic: [String: FormatPlan] = [:]
    private var byPort: [UInt16: FormatPlan] = [:]
    private var none: FormatPlan?
    /// The formats that are recognised by their bytes.
    private(set) lazy var trials: [TrialPlan] =
        if case .automatic(let formats) = options.choice { formats.compactMap { TrialPlan($0) } } else { [] }

    init(_ options: DecodingOptions, _ output: TraceOutput) { (self.options, self.output) = (options, output) }

    /// The plan for all connections; nil if formats are to be recognized.
    private(set) lazy var requested: FormatPlan? =
        if case .fixed(let format) = options.choice { plan(for: format) } else { nil }

    /// The plan for connections to a server's port that has a format of its own; nil if it has none.
    func plan(forPort port: UInt16) -> FormatPlan? {
        if let known = byPort[port] { return known }
        guard let format = options.byPort[port] ?? options.lateByPort?(port) else { return nil }
        let plan = FormatPlan(format, output)
        byPort[port] = plan
        return plan
    }

    /// The plan for connections of the first format that usually has a server's port; nil if none has.
    func plan(forUsualPort port: UInt16) -> FormatPlan? { usual[port].map { plan(for: $0) } }

    private lazy var usual: [UInt16: Format] =
        if case .automatic(let formats) = options.choice {
            Dictionary(
                formats.flatMap { format in format.ports.map { ($0, format) } }, uniquingKeysWith: { first, _ in first }
            )
        } else {
            [:]
        }

    /// The plan for connections of a format: the requested one, or a recognised one.
    func plan(for format: Format) -> FormatPlan {
        if case .fixed = options.choice {
            let plan = fixed ?? FormatPlan(format, output)
            fixed = plan
            return plan
        }
        if let known = automatic[format.label] { return known }
        let plan = FormatPlan(format, output)
        automatic[format.label] = plan
        return plan
    }

    /// The plan for connections of a recognized format.
    func plan(for chosen: Detection.Chosen) -> FormatPlan {
        guard case .trial(let trial) = chosen else { return plan(for: chosen.format) }
        if let known = trial.decoding { return known }
        let plan = plan(for: trial.format)
        trial.decoding = plan
        return plan
    }

    /// The plan for connections whose format was not recognized.
    var planOfNone: FormatPlan {
        if let none { return none }
        let plan = FormatPlan(.unframed("", "", detail: "no format"), output, isFramed: false)
        none = plan
        return plan
    }
}

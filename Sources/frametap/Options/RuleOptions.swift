import ArgumentParser
import Framing
import Interception
import Pipeline
import Streams

/// What a proxy does to frames and bytes on their way.
struct RuleOptions: ParsableArguments {
    @Option(
        name: .customLong("rules"),
        help: ArgumentHelp(
            "Apply the rules of this file; when it changes, connections that open from then on get its new rules.",
            valueName: "file"), completion: .file())
    var file: String?

    @Option(
        name: .customLong("rule"),
        help: ArgumentHelp(
            "Apply one rule, after those of the file; may be repeated. For example 'drop: type == \"txt\"' or 'delay: 200 ms; when: heartbeat'.",
            valueName: "text"))
    var rules: [String] = []

    @Option(
        help: ArgumentHelp(
            "The seed of all random choices of rules: the same seed makes the same ones. By default a random one, which is printed.",
            valueName: "number"))
    var seed: UInt64?

    @Option(help: ArgumentHelp("Rules hold at most this much of each direction of a connection.", valueName: "size"))
    var holdLimit = ByteAmount(bytes: 1 << 20)

    @Option(help: ArgumentHelp("Rules hold nothing for longer than this.", valueName: "time"))
    var holdTimeout = TimeAmount(seconds: 60)

    func validate() throws {
        if holdLimit.bytes < 1 { throw ValidationError("--hold-limit is 0; expected 1 or more bytes") }
        if holdTimeout.interval <= .seconds(0) { throw ValidationError("--hold-timeout is 0; expected more") }
    }

    /// Whether there are any.
    var isGiven: Bool { file != nil || !rules.isEmpty }

    /// How much rules hold, and for how long: the same for all listeners, also those of the control API.
    var limits: StageChain.Limits {
        var limits = StageChain.Limits()
        (limits.bytes, limits.time) = (holdLimit.bytes, holdTimeout.interval)
        return limits
    }

    /// Reads the rules, and keeps reading them; nil if there are none, and none can be set while the proxy runs.
    func store(_ decoding: DecodingOptions, isCommanded: Bool) throws -> RuleStore? {
        guard isGiven || isCommanded else { return nil }
        return try RuleStore(file, rules, seed: seed, decoding, limits)
    }
}

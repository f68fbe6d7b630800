import ArgumentParser

/// Whether a terminal shows progress.
struct StatusOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "On a terminal, show open connections and throughput in the last line, on standard error.")
    var status = true

    /// The display, if one is wanted and there is a terminal to show it.
    func display() -> StatusDisplay? { status && StatusLine.isPossible ? StatusDisplay() : nil }
}

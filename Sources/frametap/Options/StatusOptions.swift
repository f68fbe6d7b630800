import ArgumentParser

/// Whether a terminal shows how things go.
struct StatusOptions: ParsableArguments {
    @Flag(
        inversion: .prefixedNo,
        help: "On a terminal, show in its last line how many connections are open and what passes, on standard error.")
    var status = true

    /// The display, where one is wanted and there is a terminal to show it.
    func display() -> StatusDisplay? { status && StatusLine.isPossible ? StatusDisplay() : nil }
}

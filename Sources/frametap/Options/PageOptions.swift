import ArgumentParser
import Proxy

/// Where the page is served.
struct PageOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Serve a web page that shows the traffic (docs/page.md), and print its address. Port 0 lets the system choose.",
            valueName: "address:port"))
    var web: HostPort?

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "With --web: let the page stop, change and send frames, and set rules. Connections then have two legs, as with rules."
        ))
    var webActions = true

    /// The page, if there is one.
    func output(isLive: Bool) throws -> PageOutput? { try web.map { try PageOutput(at: $0, isLive: isLive) } }
}

import ArgumentParser
import Proxy

/// How many processor cores decode.
struct ThreadOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Use this many processor cores for a capture, with the same output; 1 does everything on one thread. By default all cores; at most 8 are used.",
            valueName: "n"))
    var threads: Int?

    func validate() throws {
        if let threads, !(1...1_024).contains(threads) {
            throw ValidationError("--threads is \(threads); expected 1 to 1024")
        }
    }

    /// The number of cores.
    var count: Int { threads ?? ProxyServer.usualThreads }

    /// How many threads count the frames of shares of the connections. One of them at a time reads the file and finds whose its packets are,
    /// so that more are of little use.
    var shares: Int { min(count, 8) }

    /// How many threads render lines: one reads, and one frames. With two cores one renders all the same, since reading takes little.
    var renderers: Int { min(max(1, count - 2), 4) }

    /// Whether everything is done on one thread.
    var isAlone: Bool { count == 1 }
}

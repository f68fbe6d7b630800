import ArgumentParser
import Platform

/// How many threads decode.
struct ThreadOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Decode captures on up to this many threads, with the same output; by default as many as there are processor cores.",
            valueName: "n"))
    var threads: Int?

    func validate() throws {
        if let threads, !(1...1_024).contains(threads) {
            throw ValidationError("--threads is \(threads); expected 1 to 1024")
        }
    }

    /// The number of threads.
    var count: Int { threads ?? max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// How many threads count the frames of shares of the connections: each goes through all packets, so that more are of little use.
    var shares: Int { min(count, 8) }

    /// How many threads render lines: one reads, and one frames. With two cores one renders all the same, since reading takes little.
    var renderers: Int { min(max(1, count - 2), 4) }

    /// Whether everything is done on one thread.
    var isAlone: Bool { count == 1 }
}

import ArgumentParser
import Packets
import Platform
import Streams

/// How the packets of captures are reassembled.
struct ReassemblyArguments: ParsableArguments {
    @Option(help: "Which copy wins where overlapping packets carry different bytes.")
    var overlap = OverlapPolicy.first

    @Option(
        help: ArgumentHelp(
            "Keep this much of each direction to detect retransmissions that differ; 0 compares only with segments that wait behind a gap. (default: 64KiB for captures up to 64 MiB and pipes, else 0)",
            valueName: "size"))
    var conflictHistory: ByteAmount?

    @Option(
        help: ArgumentHelp(
            "Hold at most this much of a direction after a gap; beyond that the gap is declared missing.",
            valueName: "size"))
    var reorderLimit = ByteAmount(bytes: 4 << 20)

    @Option(
        help: ArgumentHelp(
            "Treat a connection as idle after this long without a packet: what it still waits for is declared missing; 0 disables.",
            valueName: "time"))
    var idleTimeout = TimeAmount(seconds: 3600)

    @Flag(
        help: """
            Skip packets with a wrong IPv4 header or TCP checksum. Where the capturing host left checksums to its \
            network card, those it sent are wrong.
            """)
    var checkChecksums = false

    func validate() throws {
        if reorderLimit.bytes < 1 { throw ValidationError("--reorder-limit is 0; expected 1 or more bytes") }
    }

    /// The requested options.
    ///
    /// - Parameter paths: the captures. If they are small, the time that comparing takes does not matter.
    func options(for paths: [String]) -> ReassemblyOptions {
        var options = ReassemblyOptions()
        options.notices = false
        options.overlap = overlap
        options.reorderingLimit = reorderLimit.bytes
        options.idleTimeout = idleTimeout.interval
        options.verifiesChecksums = checkChecksums
        options.keepConflictHistory(captureSize: paths.reduce(0) { $0 + Self.size(of: $1) })
        if let conflictHistory { options.conflictHistory = conflictHistory.bytes }
        return options
    }

    /// The length of a file; 0 for a pipe, whose packets arrive no faster than they can be compared.
    private static func size(of path: String) -> Int {
        path != "-" ? FileStatus(of: path)?.size ?? 0 : 0
    }
}

extension OverlapPolicy: ExpressibleByArgument {}

import ArgumentParser
import Packets
import Pipeline

/// The memory limit.
struct MemoryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Hold at most this much over all connections: incomplete frames, segments after gaps, and bytes that are kept to recognize formats. Beyond that, what the connection that holds the most has is evicted and reported (memory-limit).",
            valueName: "size"))
    var memoryLimit = ByteAmount(bytes: 256 << 20)

    /// With less, two segments after a gap would be too much.
    private static let least = 1 << 20

    func validate() throws {
        if memoryLimit.bytes < Self.least {
            throw ValidationError("--memory-limit is \(memoryLimit.defaultValueDescription); expected 1MiB or more")
        }
    }

    /// Sets the decoder's part of the limit.
    ///
    /// - Parameter isReassembled: whether packets are reassembled, which has a part of its own.
    func apply(to options: inout DecodingOptions, isReassembled: Bool = true) {
        options.limitMemory(to: memoryLimit.bytes, isReassembled: isReassembled)
    }

    /// Sets reassembly's part of the limit.
    func apply(to options: inout ReassemblyOptions) {
        options.limitMemory(to: memoryLimit.bytes)
    }
}

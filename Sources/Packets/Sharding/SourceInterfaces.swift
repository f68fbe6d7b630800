import Streams

/// The interfaces of the captures that are split, each once: files and sections whose descriptions are the same share them.
struct SourceInterfaces {
    /// An interface.
    struct Interface {
        /// Its description block.
        var block: [UInt8]
        var resolution: TimeResolution
        /// The same interface with times in nanoseconds, once it was needed.
        var inNanoseconds: Int?
        fileprivate var described: CaptureInterface
    }

    private struct Key: Hashable {
        /// Two interfaces of a section are two, even if they are described alike.
        var index: Int
        var block: [UInt8]
    }

    private var all: [Interface] = []
    private var known: [Key: Int] = [:]

    /// How many there are.
    var count: Int { all.count }

    /// An interface by its number, from 0.
    subscript(number: Int) -> Interface { all[number] }

    /// The number of an interface.
    mutating func add(_ described: CaptureInterface) -> Int {
        let key = Key(index: described.index, block: ShardBlocks.description(of: described))
        if let number = known[key] { return number }
        known[key] = all.count
        return append(described, key.block)
    }

    /// The number of the same interface with times in nanoseconds.
    mutating func inNanoseconds(_ number: Int) -> Int {
        if let other = all[number].inNanoseconds { return other }
        var described = all[number].described
        var options: [UInt8] = []
        PcapngOption.each(in: described.options.span.bytes, bigEndian: false) { code, value in
            guard code != PcapngOption.timeResolution, code != PcapngOption.timeOffset else { return }
            options.append(first: 2, of: UInt64(code))
            options.append(first: 2, of: UInt64(value.byteCount))
            options.append(contentsOf: value)
            options.padToWord()
        }
        options += [UInt8(PcapngOption.timeResolution), 0, 1, 0, 9, 0, 0, 0]
        described.options = options
        described.resolution = TimeResolution(option: 9, offset: 0)
        let other = append(described, ShardBlocks.description(of: described))
        all[number].inNanoseconds = other
        return other
    }

    private mutating func append(_ described: CaptureInterface, _ block: [UInt8]) -> Int {
        all.append(Interface(block: block, resolution: described.resolution, described: described))
        return all.count - 1
    }
}

import Streams

/// Receives the bytes of shards, block by block.
package protocol ShardOutput: AnyObject {
    /// Appends to a shard what `write` appends.
    func append(to shard: Int, _ write: (inout [UInt8]) -> Void)
}

extension ShardOutput {
    /// Appends to a shard.
    func append(_ bytes: [UInt8], to shard: Int) { append(to: shard) { $0.append(contentsOf: bytes.span.bytes) } }
}

/// What a shard has.
package struct ShardCounts: Hashable, Sendable {
    /// How many packets.
    package var packets = 0
    /// How many captured bytes they have.
    package var bytes = 0
    /// The time of its first packet.
    package var first: Timestamp?
    /// The time of its latest packet.
    package var last: Timestamp?

    /// Counts a packet.
    @inline(__always)
    fileprivate mutating func add(_ byteCount: Int, at time: Timestamp) {
        packets += 1
        bytes += byteCount
        if first == nil { first = time }
        last = max(last ?? time, time)
    }
}

/// Splits packets by their connection into shards: pcapng captures that together have every packet, and that each have all
/// packets of their connections.
///
/// A packet keeps its time at the resolution of its interface, its lengths and its options, and says as a comment which packet
/// of which file it was. Secrets and names go to every shard. At the end, a shard says until when it was captured.
package struct CaptureSharder: PacketReceiver, ~Copyable {
    // Not generic: for each packet, the types of what it holds would be looked up at run time.
    private let output: any ShardOutput
    private var shards: [ShardState]
    private var captures: [SplitCapture]
    private var current = 0
    private var finder: FlowFinder
    private var held: [Int: [HeldFragment]] = [:]
    private var interfaces = SourceInterfaces()
    private let interfaceLimit: Int
    private let tellsOrigins: Bool
    /// The first that was described: what says until when was captured if there is no packet.
    private var firstInterface: CaptureInterface?
    private let header: [UInt8]
    private var blocks = ShardBlocks()
    /// The time of the last packet that had one.
    private var time = Timestamp(nanoseconds: 0)
    private var end: Timestamp?
    private var drops = CaptureDrops()

    /// Begins the shards.
    ///
    /// - Parameters:
    ///   - count: how many shards, at least 1.
    ///   - names: the names of the captures, in the order in which they are merged.
    ///   - application: the program, as the shards name it.
    ///   - tellsOrigins: whether packets say which packet of which file they were.
    ///   - waitingLimit: how many bytes of fragments may wait for the rest of their datagrams.
    ///   - interfaceLimit: after how many different interfaces the shards begin another section.
    ///   - output: receives the shards.
    package init(
        _ count: Int, of names: [String], application: String, tellsOrigins: Bool = true,
        waitingLimit: Int = 64 << 20, interfaceLimit: Int = 1 << 16, to output: any ShardOutput
    ) {
        self.output = output
        self.interfaceLimit = interfaceLimit
        self.tellsOrigins = tellsOrigins
        shards = [ShardState](repeating: ShardState(), count: max(1, count))
        captures = names.map { SplitCapture(name: Array($0.utf8)) }
        finder = FlowFinder(limit: waitingLimit)
        var header: [UInt8] = []
        var writer = PcapngWriter()
        writer.appendSectionHeader(application: application, to: &header)
        self.header = header
        appendToAll(header)
    }

    /// What the shards have so far.
    package var counts: [ShardCounts] { shards.map(\.counts) }

    // MARK: What captures have

    /// Names belong to the packets.
    package static var readsNames: Bool { true }

    /// What follows is of another capture.
    package mutating func turned(to capture: Int) { current = capture }

    /// An interface of the capture.
    package mutating func described(_ interface: CaptureInterface) {
        guard captures.indices.contains(current) else { return }
        captures[current].interfaces[interface.index] = interface
        captures[current].numbers[interface.index] = nil
        firstInterface = firstInterface ?? interface
    }

    /// Secrets and names go to every shard.
    package mutating func passed(_ block: CaptureBlock, body: RawSpan) {
        if block.kind == .section, captures.indices.contains(current) {
            captures[current].interfaces = [:]
            captures[current].numbers = [:]
        }
        if let shared = SharedBlock.block(block, body) { appendToAll(shared) }
    }

    /// Packets were lost.
    package mutating func dropped(_ drops: CaptureDrops) {
        self.drops.byInterface &+= drops.byInterface
        self.drops.bySystem &+= drops.bySystem
    }

    /// The captures say until when they were made.
    package mutating func captured(until time: Timestamp) { end = max(end ?? time, time) }

    /// The next packet goes to its shard.
    package mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        guard captures.indices.contains(current) else { return .taken }
        if packet.hasTime {
            time = packet.time
            end = max(end ?? time, time)
        }
        captures[current].packets += 1
        var interface = number(ofInterfaceOf: packet)
        var units = packet.units
        if !packet.hasTime {
            // It gets the time of the packet before, as in the decoder: its neighbours may be in other shards.
            interface = interfaces.inNanoseconds(interface)
            units = UInt64(bitPattern: time.nanoseconds)
        }
        let origin = tellsOrigins ? (captures[current].packets, captures[current].name) : nil
        let shard: Int
        if let ends = finder.commonEnds(packet, bytes) {
            shard = ends.shard(of: shards.count)
        } else {
            let found = finder.find(packet, bytes)
            release()
            if case .waiting(let datagram) = found {
                var block: [UInt8] = []
                blocks.append(packet, bytes, options, interface: 0, units: units, origin: origin, to: &block)
                held[datagram, default: []].append(
                    HeldFragment(block: block, interface: interface, byteCount: bytes.byteCount, time: time))
                return .taken
            }
            shard = place(of: found)
        }
        let number = describe(interface, in: shard)
        output.append(to: shard) {
            blocks.append(packet, bytes, options, interface: number, units: units, origin: origin, to: &$0)
        }
        shards[shard].counts.add(bytes.byteCount, at: time)
        return .taken
    }

    /// There are no more packets.
    package mutating func finish() {
        finder.finish()
        release()
        if interfaces.count == 0, let firstInterface { _ = interfaces.add(firstInterface) }
        guard interfaces.count > 0 else { return }
        for shard in shards.indices {
            // Each loss is counted once.
            let lost = shard == 0 ? drops : CaptureDrops()
            let (interface, units) = clock(of: shard)
            let statistics = ShardBlocks.statistics(
                interface: interface, end: units, drops: lost, packets: shards[shard].counts.packets)
            output.append(statistics, to: shard)
        }
    }

    // MARK: Where packets go

    /// The shard of a packet: what has nothing to do with IP goes to the first.
    private func place(of found: FlowFinder.Found) -> Int { found.ends?.shard(of: shards.count) ?? 0 }

    /// Fragments that were waiting go to their shards.
    private mutating func release() {
        for settled in finder.takeSettled() {
            guard let waiting = held.removeValue(forKey: settled.datagram) else { continue }
            if case .waiting(let datagram) = settled.found {
                held[datagram, default: []] += waiting
                continue
            }
            let shard = place(of: settled.found)
            for fragment in waiting {
                let number = describe(fragment.interface, in: shard)
                var bytes = fragment.block
                ShardBlocks.number(number, in: &bytes)
                output.append(bytes, to: shard)
                shards[shard].counts.add(fragment.byteCount, at: fragment.time)
            }
        }
    }

    private mutating func appendToAll(_ block: [UInt8]) {
        for shard in shards.indices { output.append(block, to: shard) }
    }

    // MARK: Interfaces

    /// The number of a packet's interface among all of them.
    private mutating func number(ofInterfaceOf packet: PacketInfo) -> Int {
        let latest = captures[current].latest
        if latest.index == packet.interface { return latest.number }
        if let number = captures[current].numbers[packet.interface] {
            captures[current].latest = (packet.interface, number)
            return number
        }
        if interfaces.count >= interfaceLimit { beginSections() }
        let described =
            captures[current].interfaces[packet.interface]
            ?? CaptureInterface(index: packet.interface, linkType: packet.linkType)
        let number = interfaces.add(described)
        captures[current].numbers[packet.interface] = number
        return number
    }

    /// The number of an interface in a shard, which describes it before its first packet.
    private mutating func describe(_ interface: Int, in shard: Int) -> Int {
        let latest = shards[shard].latest
        if latest.interface == interface { return latest.number }
        if let number = shards[shard].interfaces[interface] {
            shards[shard].latest = (interface, number)
            return number
        }
        let number = shards[shard].interfaces.count
        shards[shard].interfaces[interface] = number
        output.append(interfaces[interface].block, to: shard)
        return number
    }

    /// The interface of a shard that can say until when it was captured, and that time in its units.
    private mutating func clock(of shard: Int) -> (interface: Int, units: UInt64?) {
        guard let end else { return (describe(0, in: shard), nil) }
        for (interface, number) in shards[shard].interfaces.sorted(by: { $0.value < $1.value }) {
            if let units = interfaces[interface].resolution.units(of: end) { return (number, units) }
        }
        if let units = interfaces[0].resolution.units(of: end) { return (describe(0, in: shard), units) }
        let exact = interfaces.inNanoseconds(0)
        return (describe(exact, in: shard), UInt64(bitPattern: end.nanoseconds))
    }

    /// Begins another section in every shard: tables of interfaces do not grow without bound.
    private mutating func beginSections() {
        finder.finish()
        release()
        appendToAll(header)
        for shard in shards.indices { shards[shard].interfaces = [:] }
        interfaces = SourceInterfaces()
        for capture in captures.indices { captures[capture].numbers = [:] }
    }
}

/// A capture that is split.
private struct SplitCapture {
    var name: [UInt8]
    var packets = 0
    /// The interfaces of its section, by their index.
    var interfaces: [Int: CaptureInterface] = [:]
    /// The numbers of those that have packets.
    var numbers: [Int: Int] = [:] {
        didSet { latest = (-1, 0) }
    }
    /// The one looked up last: most packets are of the same interface as the one before.
    var latest = (index: -1, number: 0)
}

/// A shard.
private struct ShardState {
    /// The interfaces it has described, with their numbers in it.
    var interfaces: [Int: Int] = [:] {
        didSet { latest = (-1, 0) }
    }
    /// The one looked up last.
    var latest = (interface: -1, number: 0)
    var counts = ShardCounts()
}

/// A fragment that waits.
private struct HeldFragment {
    var block: [UInt8]
    var interface: Int
    var byteCount: Int
    var time: Timestamp
}

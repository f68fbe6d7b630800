import Packets
import Streams
import Testing

/// Shards in memory.
final class MemoryShards: ShardOutput {
    private(set) var shards: [[UInt8]]

    init(count: Int) { shards = Array(repeating: [], count: count) }

    func append(to shard: Int, _ write: (inout [UInt8]) -> Void) { write(&shards[shard]) }
}

/// Captures that were split.
struct ShardedCaptures {
    var shards: [[UInt8]] = []
    var counts: [ShardCounts] = []
    var failures: [CaptureError] = []

    /// Splits captures named `0`, `1` and so on.
    init(
        _ files: [[UInt8]], into count: Int, sizes: [Int] = [1 << 20], waitingLimit: Int = 64 << 20,
        interfaceLimit: Int = 1 << 16
    ) {
        var merge = CaptureMerge(files.map { PieceSource($0, sizes: sizes) }, chunk: 4096)
        let output = MemoryShards(count: count)
        var packets = MergedPackets(
            to: CaptureSharder(
                count, of: files.indices.map { "\($0)" }, application: "tests", waitingLimit: waitingLimit,
                interfaceLimit: interfaceLimit, to: output))
        reading: while true {
            switch merge.step(to: &packets) {
            case .more: continue
            case .failed(_, .damaged(let damage)): failures.append(damage)
            case .stopped, .end: break reading
            }
        }
        packets.receiver.finish()
        shards = output.shards
        counts = packets.receiver.counts
    }

    /// The packets of each shard; reading them must not fail.
    func packets() -> [[ReadPacket]] {
        shards.map { shard in
            let (log, error) = read(shard)
            #expect(error == nil)
            return log.packets
        }
    }
}

extension ReadPacket {
    /// Where it says it was before.
    var origin: PacketOrigin? { comments.lazy.compactMap { PacketOrigin(comment: $0) }.first }
}

/// What happened on each connection, by its ends, without the numbers of connections and packets.
///
/// - Parameters:
///   - selection: the connections; nil: all.
///   - end: until when time goes on.
func stories(
    of files: [[UInt8]], selection: ConnectionSelection? = nil, until end: Timestamp? = nil
) -> [String: [String]] {
    let log = StreamEventLog()
    var options = ReassemblyOptions()
    options.selection = selection
    var merge = CaptureMerge(files.map { PieceSource($0, sizes: [1 << 20]) }, chunk: 4096)
    var packets = MergedPackets(to: CaptureDecoder(options: options, receiver: log))
    reading: while true {
        switch merge.step(to: &packets) {
        case .more, .failed: continue
        case .stopped, .end: break reading
        }
    }
    if let end { packets.receiver.captured(until: end) }
    packets.receiver.finish()
    var names: [Int: String] = [:]
    var stories: [String: [String]] = [:]
    func tell(_ number: Int, _ text: String) { stories[names[number] ?? "", default: []].append(text) }
    for event in log.events {
        switch event {
        case .opened(let opening):
            names[opening.number] = "\(opening.client) \(opening.server)"
            tell(opening.number, "opened \(opening.time.nanoseconds)")
        case .received(let number, let from, let bytes, let time, _):
            tell(number, "\(from.sender) \(time.nanoseconds) \(bytes)")
        case .missing(let number, let from, let count, let time):
            tell(number, "\(from.sender) \(time.nanoseconds) missing \(count)")
        case .noticed(let number, let from, let notice, let time, _):
            tell(number, "\(from.sender) \(time.nanoseconds) \(notice)")
        case .finished(let number, let from, let ending, let time):
            tell(number, "\(from.sender) \(time.nanoseconds) \(ending)")
        case .closed(let number, let closing): tell(number, "closed \(closing.time.nanoseconds) \(closing.reason)")
        }
    }
    return stories
}

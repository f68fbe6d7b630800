import Packets

/// Ethernet frames of a few connections, plain, tagged, tunnelled and fragmented, among others that have no TCP; some are lost.
struct RandomTraffic {
    var frames: [[UInt8]] = []
    private var sequences: [Int: UInt32] = [:]

    init(_ random: inout SeededRandom, units: Int = 120) {
        // Each unit's frames come a little later than the one before's: fragments lie among other packets.
        var placed: [(place: Int, frame: [UInt8])] = []
        for unit in 0..<units {
            let frames = unitFrames(unit, &random)
            for frame in frames where Int.random(in: 0..<40, using: &random) > 0 {
                let delay = frames.count > 1 ? Int.random(in: 0...4, using: &random) : 0
                placed.append((10 * (unit + delay), frame))
            }
        }
        let order = placed.indices.sorted { (placed[$0].place, $0) < (placed[$1].place, $1) }
        frames = order.map { placed[$0].frame }
    }

    private mutating func unitFrames(_ unit: Int, _ random: inout SeededRandom) -> [[UInt8]] {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return [Headers.ethernet(big(unit, 2), type: 0x0806)]
        case 1:
            let datagram = Headers.udp(big(unit, 8) + [UInt8](repeating: 1, count: 40), to: 53)
            return Bool.random(using: &random)
                ? [Headers.ethernet(Headers.ipv4(datagram, protocol: 17))]
                : Self.fragments(datagram, 17, Headers.client, Headers.server, unit, &random)
        case 2: return [Headers.ethernet(Headers.ipv4(big(unit, 8), protocol: 1, from: unit % 5, to: 9))]
        default: return segment(unit, &random)
        }
    }

    private mutating func segment(_ unit: Int, _ random: inout SeededRandom) -> [[UInt8]] {
        let connection = Int.random(in: 0..<7, using: &random)
        let isClient = Bool.random(using: &random)
        let (client, server) = (Headers.client + 16 + connection % 3, Headers.server + 32)
        let (source, destination) = isClient ? (client, server) : (server, client)
        let ports = isClient ? (40_000 + connection, 80) : (80, 40_000 + connection)
        let payload = (0..<Int.random(in: 1...90, using: &random)).map { UInt8(truncatingIfNeeded: unit + $0) }
        let key = 2 * connection + (isClient ? 0 : 1)
        let sequence = sequences[key, default: 1000]
        sequences[key] = sequence + UInt32(payload.count)
        let tcp = Headers.tcp(payload, from: ports.0, to: ports.1, sequence: sequence)
        let ip = Headers.ipv4(tcp, from: source, to: destination)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: return [Headers.ethernet([0, 5, 8, 0] + ip, type: 0x8100)]
        case 1: return [LinkLayerTests.inIP(47, [0, 0, 8, 0] + ip)]
        case 2: return [LinkLayerTests.inUDP([8, 0, 0, 0, 0, 0, 1, 0], Headers.ethernet(ip), 4789)]
        case 3: return Self.fragments(tcp, 6, source, destination, unit, &random)
        case 4:
            let inner = [8, 0, 0, 0, 0, 0, 1, 0] + Headers.ethernet(ip)
            return Self.fragments(Headers.udp(inner, to: 4789), 17, 1, 2, unit, &random)
        default: return [Headers.ethernet(ip)]
        }
    }

    /// The fragments of a datagram, in any order; it is whole if it is short.
    static func fragments(
        _ payload: [UInt8], _ number: Int, _ source: Int, _ destination: Int, _ identification: Int,
        _ random: inout SeededRandom
    ) -> [[UInt8]] {
        let size = 8 * Int.random(in: 1...6, using: &random)
        return stride(from: 0, to: payload.count, by: size).map { start in
            let end = min(start + size, payload.count)
            let place = start / 8 | (end < payload.count ? 0x2000 : 0)
            return Headers.ethernet(
                Headers.ipv4(
                    Array(payload[start..<end]), protocol: number, from: source, to: destination,
                    identification: identification + 1, fragment: place))
        }.shuffled(using: &random)
    }

    /// The frames in files of several kinds, each frame in one of them, in chronological order.
    func files(_ random: inout SeededRandom, count: Int) -> [[UInt8]] {
        var pcaps = [PcapFile](repeating: PcapFile(), count: count)
        var pcapngs = (0..<count).map { PcapngFile(isBigEndian: $0.isMultiple(of: 2)) }
        for index in pcapngs.indices { pcapngs[index].interface(options: [(2, Array("eth\(index)".utf8)), (9, [9])]) }
        for (index, frame) in frames.enumerated() {
            let file = Int.random(in: 0..<count, using: &random)
            pcaps[file].isBigEndian = file.isMultiple(of: 3)
            let time = 1_700_000_000_000_000 + 500 * index
            pcaps[file].add(frame, at: time, original: frame.count + (random.chance(1) ? 40 : 0))
            pcapngs[file].packet(
                frame, at: 1000 * time + index, comments: random.chance(1) ? ["about packet \(index)"] : [])
        }
        return (0..<count).map { Bool.random(using: &random) ? pcaps[$0].bytes : pcapngs[$0].file.bytes }
    }
}

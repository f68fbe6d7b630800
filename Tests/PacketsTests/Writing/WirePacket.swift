import Streams

@testable import Packets

/// A packet as the tests read it, with code of their own.
struct WirePacket {
    var isIPv4 = true
    var source: [UInt8] = []
    var destination: [UInt8] = []
    var identification = 0
    var sourcePort = 0
    var destinationPort = 0
    var sequence: UInt32 = 0
    var acknowledgment: UInt32 = 0
    var flags: UInt8 = 0
    var options: [UInt8] = []
    var payload: [UInt8] = []
    /// Everything that is wrong with it.
    var faults: [String] = []

    init(_ bytes: [UInt8]) {
        func number(_ offset: Int, _ count: Int) -> Int {
            bytes[offset..<offset + count].reduce(0) { $0 << 8 | Int($1) }
        }
        isIPv4 = bytes[0] >> 4 == 4
        let header: Int
        let length: Int
        if isIPv4 {
            header = Int(bytes[0] & 15) * 4
            length = number(2, 2) - header
            identification = number(4, 2)
            (source, destination) = (Array(bytes[12..<16]), Array(bytes[16..<20]))
            if bytes[9] != 6 || bytes[6] != 0x40 || bytes[8] == 0 { faults.append("IPv4 header") }
            if WirePacket.sum(Array(bytes[..<header])) != 0xffff { faults.append("IPv4 checksum") }
        } else {
            header = 40
            length = number(4, 2)
            (source, destination) = (Array(bytes[8..<24]), Array(bytes[24..<40]))
            if bytes[0] >> 4 != 6 || bytes[6] != 6 || bytes[7] == 0 { faults.append("IPv6 header") }
        }
        if header + length != bytes.count { faults.append("length") }
        let segment = Array(bytes[header...])
        let pseudo = source + destination + [0, 6, UInt8(segment.count >> 8), UInt8(segment.count & 255)]
        if WirePacket.sum(pseudo + segment) != 0xffff { faults.append("TCP checksum") }
        sourcePort = number(header, 2)
        destinationPort = number(header + 2, 2)
        sequence = UInt32(number(header + 4, 4))
        acknowledgment = UInt32(number(header + 8, 4))
        let dataOffset = Int(bytes[header + 12] >> 4) * 4
        flags = bytes[header + 13]
        options = Array(segment[20..<dataOffset])
        payload = Array(segment[dataOffset...])
    }

    /// The one's complement sum, 16 bits at a time, with the carry added immediately: RFC 1071 to the letter.
    static func sum(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = 0
        for offset in stride(from: 0, to: bytes.count, by: 2) {
            sum += UInt32(bytes[offset]) << 8 + (offset + 1 < bytes.count ? UInt32(bytes[offset + 1]) : 0)
            if sum > 0xffff { sum -= 0xffff }
        }
        return sum
    }

    /// Control bits as letters, in the order of the header's bits from FIN up.
    var letters: String {
        String(zip("FSRPA", 0..<5).filter { flags >> $0.1 & 1 == 1 }.map(\.0))
    }
}

/// Collects what a synthetic connection emits.
struct Exchange {
    var connection: SyntheticConnection
    var kinds: [SyntheticPacket] = []
    var raw: [[UInt8]] = []

    init(
        _ client: Endpoint = Endpoint(IPAddress(v4: 0x0a00_0001), 40000),
        _ server: Endpoint = Endpoint(IPAddress(v4: 0x0a00_0002), 80), number: Int = 1,
        initialSequence: PerDirection<UInt32>? = nil
    ) {
        connection = SyntheticConnection(
            number: number, client: client, server: server, initialSequence: initialSequence)
    }

    var packets: [WirePacket] { raw.map(WirePacket.init) }

    /// `S`, `SA`, `A` and so on, with the sender and the number of bytes.
    var summary: [String] {
        packets.map { packet in
            let isClient = packet.sourcePort == Int(connection.client.port)
            let count = packet.payload.isEmpty ? "" : " \(packet.payload.count)"
            return (isClient ? "> " : "< ") + packet.letters + count
        }
    }

    mutating func perform(_ action: (inout SyntheticConnection, (SyntheticPacket, RawSpan) -> Void) -> Void) {
        var kinds = kinds
        var raw = raw
        action(&connection) { kind, bytes in
            kinds.append(kind)
            raw.append(bytes.copied())
        }
        self.kinds = kinds
        self.raw = raw
    }

    mutating func open() { perform { $0.open($1) } }
    mutating func connecting() { perform { $0.connecting($1) } }
    mutating func refused() { perform { $0.refused($1) } }
    mutating func finish(_ direction: Direction) { perform { $0.finish(from: direction, $1) } }
    mutating func reset(_ direction: Direction) { perform { $0.reset(from: direction, $1) } }
    mutating func dropped(_ count: Int, _ direction: Direction) { perform { $0.dropped(count, from: direction, $1) } }
    mutating func data(_ bytes: [UInt8], _ direction: Direction) {
        perform { $0.data(bytes.span.bytes, from: direction, $1) }
    }
}

import Framing
import Packets
import Pipeline
import Streams
import TestSupport
import Trace

/// A synthetic capture of im-json clients, made segment by segment: behaviour that no real network produces on demand.
///
/// Heartbeats are due every second, and a gap is three of them; times are in milliseconds.
struct MadeCapture: ~Copyable {
    let chat: ChatBytes
    let heartbeat: [UInt8]
    private var reassembler: TCPReassembler
    private let decoder: Decoder
    private let output: MemoryOutput
    private var packets = 0
    /// Whether each side counts its packets in the IPv4 identification field, and the next value.
    var identifications: PerDirection<UInt16?> = PerDirection(fromClient: nil, fromServer: nil)
    /// How far each side's clock (TSval) is behind the capture's, in milliseconds; nil if segments have none.
    var clocks: PerDirection<Int?> = PerDirection(fromClient: nil, fromServer: nil)
    /// The client's port: a different port is a different connection.
    var port: UInt16 = 40_000

    init(_ options: DecodingOptions? = nil) throws {
        let chat = try ChatBytes()
        let heartbeat = try chat.heartbeat()
        let output = MemoryOutput()
        let decoder = Decoder(
            options ?? DecodingOptions(.fixed(chat.format)),
            sinks: [NDJSONWriter(to: output, source: "tests", tool: "tests")])
        var reassembly = ReassemblyOptions()
        reassembly.notices = false
        (self.chat, self.heartbeat, self.decoder, self.output) = (chat, heartbeat, decoder, output)
        reassembler = TCPReassembler(options: reassembly, receiver: decoder)
    }

    /// A segment; the client's numbers start at 1,000, the server's at 5,000, and positions at 0.
    mutating func send(
        _ direction: Direction = .fromClient, _ payload: [UInt8] = [], at time: Int, position: Int = 0,
        _ flags: TCPFlags = .ack, acknowledging: Int = 0, window: UInt16 = 1_000
    ) {
        packets += 1
        let client = Endpoint(IPAddress(v4: 0x0a00_0001), port)
        let server = Endpoint(IPAddress(v4: 0x0a00_0002), 8_088)
        let isClient = direction == .fromClient
        var segment = TCPSegment(
            source: isClient ? client : server, destination: isClient ? server : client,
            sequence: UInt32((isClient ? 1_000 : 5_000) + position),
            acknowledgment: UInt32((isClient ? 5_000 : 1_000) + acknowledging), flags: flags, window: window,
            payloadLength: payload.count)
        if let next = identifications[direction] {
            segment.identification = next
            identifications[direction] = next &+ 1
        }
        if let behind = clocks[direction] { segment.clock = UInt32(100_000 + time - behind) }
        let now = at(time)
        reassembler.advance(to: now)
        reassembler.receive(segment, payload: payload.span.bytes, at: now, packet: packets)
    }

    /// A segment of the client's.
    mutating func send(_ payload: [UInt8], at time: Int, position: Int = 0) {
        send(.fromClient, payload, at: time, position: position)
    }

    mutating func handshake(at time: Int = 0) {
        send(at: time, position: -1, .syn)
        send(.fromServer, at: time, position: -1, [.syn, .ack])
        send(at: time)
    }

    /// Heartbeats in order: the number of each is its index in the stream.
    mutating func heartbeats(_ numbers: Range<Int>, at times: [Int]) {
        for (number, time) in zip(numbers, times) { send(heartbeat, at: time, position: number * heartbeat.count) }
    }

    mutating func advance(to time: Int) { reassembler.advance(to: at(time)) }

    private func at(_ milliseconds: Int) -> Timestamp { Timestamp(nanoseconds: Int64(milliseconds) * 1_000_000) }

    /// The findings so far.
    func findings() throws -> [TraceLine] {
        decoder.flush()
        return try traceLines(output.text).filter { $0.event == "finding" }
    }

    /// Ends the capture; returns the findings of some kinds.
    mutating func finish(_ kinds: Finding.Kind...) throws -> [TraceLine] {
        reassembler.finish()
        decoder.finish()
        return try findings().filter { line in kinds.contains { $0.rawValue == line["kind"] } }
    }

    /// Ends the capture; returns the cause reported for the pause in the heartbeats.
    mutating func blame() throws -> [String] {
        try finish(.heartbeatResumed, .heartbeatStopped).map { $0.text(of: "data", "blame") ?? "-" }
    }
}

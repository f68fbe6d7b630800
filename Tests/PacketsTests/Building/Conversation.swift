import Packets
import Streams

/// Segments between one client and one server, handed to a reassembler.
struct Conversation: ~Copyable {
    static let client = Endpoint(IPAddress(v4: 0x0a00_0001), 40_000)
    static let server = Endpoint(IPAddress(v4: 0x0a00_0002), 80)

    let log = StreamEventLog()
    private var reassembler: TCPReassembler
    private var packets = 0
    /// Milliseconds since 1970 of the next packet.
    var time = 0

    init(_ options: ReassemblyOptions = ReassemblyOptions()) {
        reassembler = TCPReassembler(options: options, receiver: log)
    }

    mutating func send(
        _ direction: Direction, _ sequence: UInt32, _ payload: [UInt8] = [], _ flags: TCPFlags = [],
        ack: UInt32? = nil, window: UInt16 = 1000, length: Int? = nil
    ) {
        packets += 1
        let (source, destination) =
            direction == .fromClient
            ? (Conversation.client, Conversation.server) : (Conversation.server, Conversation.client)
        let segment = TCPSegment(
            source: source, destination: destination, sequence: sequence, acknowledgment: ack ?? 0,
            flags: ack == nil ? flags : flags.union(.ack), window: window,
            payloadLength: length ?? payload.count)
        let now = Timestamp(nanoseconds: Int64(time) * 1_000_000)
        reassembler.advance(to: now)
        reassembler.receive(segment, payload: payload.span.bytes, at: now, packet: packets)
    }

    mutating func client(
        _ sequence: UInt32, _ text: String = "", _ flags: TCPFlags = [], ack: UInt32? = nil, window: UInt16 = 1000
    ) {
        send(.fromClient, sequence, Array(text.utf8), flags, ack: ack, window: window)
    }

    mutating func server(
        _ sequence: UInt32, _ text: String = "", _ flags: TCPFlags = [], ack: UInt32? = nil, window: UInt16 = 1000
    ) {
        send(.fromServer, sequence, Array(text.utf8), flags, ack: ack, window: window)
    }

    /// How many deadlines the reassembler has pending.
    var pendingDeadlines: Int { reassembler.pendingDeadlines }

    /// How many segments brought bytes after their connection was closed.
    var unreadSegments: Int { reassembler.unreadSegments }

    /// Client's numbers start at 100, the server's at 200.
    mutating func handshake() {
        client(99, "", .syn)
        server(199, "", .syn, ack: 100)
        client(100, ack: 200)
    }

    mutating func advance(milliseconds: Int) {
        time += milliseconds
        reassembler.advance(to: Timestamp(nanoseconds: Int64(time) * 1_000_000))
    }

    mutating func finish() {
        reassembler.finish()
    }

    /// The events in short form, without notices: `c:Hello` and `s:…` for bytes, `c-5` for missing ones, `c.fin` for ends.
    var story: [String] {
        log.events.compactMap { event in
            switch event {
            case .opened(let opening):
                "\(opening.number)\(opening.handshake ? " handshake" : "")\(opening.clientGuessed ? " guessed" : "")"
            case .received(_, let from, let bytes, _, _):
                "\(from.sender.first ?? "?"):" + String(decoding: bytes, as: UTF8.self)
            case .missing(_, let from, let count, _): "\(from.sender.first ?? "?")-\(count)"
            case .noticed: nil
            case .finished(_, let from, let ending, _): "\(from.sender.first ?? "?").\(ending.rawValue)"
            case .closed(let number, let closing):
                "\(number) \(closing.reason.rawValue)\(closing.by.map { " by \($0.sender)" } ?? "")"
            }
        }
    }

    /// The notices of one direction, except that it has a SYN.
    func notices(_ direction: Direction) -> [StreamNotice] {
        log.events.compactMap { event in
            guard case .noticed(_, direction, let notice, _, _) = event, notice != .synchronised else { return nil }
            if case .segment = notice { return nil }
            return notice
        }
    }
}

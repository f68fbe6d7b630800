import NIOCore
import Streams

/// The layers of one connection, one after the other: a value without sockets.
struct EntryStack: Sendable {
    /// The known facts about the connection.
    private(set) var connection: EntryConnection
    private var layers: ArraySlice<any EntryLayer>
    /// How long the client may take to complete its request, in words.
    private let patience: String

    /// A stack of layers; the first one takes the client's first bytes.
    init(_ layers: [any EntryLayer], of connection: EntryConnection, patience: String) {
        (self.layers, self.connection, self.patience) = (layers[...], connection, patience)
    }

    /// Whether a layer still waits for bytes from the client.
    var awaitsClient: Bool { layers.contains { $0.needsBytes } }

    /// Whether more of the client's bytes should be read now.
    var needsBytes: Bool { layers.first?.needsBytes ?? false }

    /// Begins with the first layer.
    ///
    /// - Parameter early: the bytes that the client sent before: there already if a server is connected at once.
    mutating func begin(with early: ByteBuffer = ByteBuffer()) -> [EntryAction] {
        var early = early
        connection.unread.writeBuffer(&early)
        let actions = take(.began)
        guard connection.unread.readableBytes > 0, needsBytes else { return actions }
        return actions + take(.bytes)
    }

    /// The client sent bytes.
    mutating func receive(_ bytes: ByteBuffer) -> [EntryAction] {
        var bytes = bytes
        connection.unread.writeBuffer(&bytes)
        return take(.bytes)
    }

    /// Returns the bytes that no layer has consumed.
    mutating func takeUnread() -> ByteBuffer {
        defer { connection.unread = ByteBuffer() }
        return connection.unread
    }

    /// The client's time is up.
    mutating func expire() -> [EntryAction] {
        guard awaitsClient else { return [] }
        let fault = EntryFault("the client did not say who it is or where it goes within \(patience)")
        return over([.close(fault, isOrderly: false)])
    }

    /// Passes an event to the layer whose turn it is.
    ///
    /// - Returns: the actions, in order; `done` comes last, when no layer is left.
    mutating func take(_ event: EntryEvent) -> [EntryAction] {
        guard let index = layers.indices.first else { return [] }
        var actions: [EntryAction] = []
        for action in layers[index].take(event, of: &connection) {
            switch action {
            case .done:
                layers = layers.dropFirst()
                if layers.isEmpty { return actions + [.done] }
                actions += take(.began)
                if connection.unread.readableBytes > 0, needsBytes { actions += take(.bytes) }
                return actions
            case .close: return over(actions + [action])
            case .connect(let place, _):
                connection.server = place
                actions.append(action)
            default: actions.append(action)
            }
        }
        return actions
    }

    /// A handshake that a layer asked for is over.
    mutating func take(_ result: Result<TLSOutcome, TLSFault>, on leg: TLSRequest.Leg) -> [EntryAction] {
        switch result {
        case .success(let outcome): take(.secured(leg, outcome))
        case .failure(let fault): take(.failed(leg, fault))
        }
    }

    private mutating func over(_ actions: [EntryAction]) -> [EntryAction] {
        layers = []
        return actions
    }
}

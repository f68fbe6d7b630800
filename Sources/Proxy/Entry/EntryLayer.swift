import NIOCore
import Streams

/// One step of accepting a client: a PROXY header, SOCKS, finding the server. A value without sockets.
///
/// A layer takes events and returns actions; `EntryStack` passes events to one layer after the other, and `EntryHandler` performs
/// the actions on channels.
protocol EntryLayer: Sendable {
    /// Whether more of the client's bytes are needed before anything else can be done.
    var needsBytes: Bool { get }

    /// Takes an event.
    ///
    /// - Parameter connection: the known facts about the connection. The layer consumes the unread bytes that belong to it.
    mutating func take(_ event: EntryEvent, of connection: inout EntryConnection) -> [EntryAction]
}

/// The known facts about a connection before it is relayed.
struct EntryConnection: Sendable {
    /// The client's address, as reported by the socket or by a PROXY header.
    var client: Endpoint
    /// The address that the client connected to.
    var reached: Endpoint
    /// Whether `client` merely represents a Unix socket.
    var isUnixClient = false
    /// Bytes from the client that no layer has consumed.
    var unread = ByteBuffer()
    /// The server that the client is connected to, or being connected to.
    var server: Place?
    /// What is known about the TLS that the proxy has removed.
    var tls: TLSFacts?
}

/// An event for a layer.
enum EntryEvent: Sendable {
    /// It is the layer's turn.
    case began
    /// The client sent more.
    case bytes
    /// The client sent FIN, or its connection is gone.
    case ended
    /// The requested destination, or why there is none.
    case destination(Result<SocketAddress, EntryFault>)
    /// The requested server is connected; `bound` is the proxy's end of that connection.
    case connected(bound: SocketAddress?)
    /// The requested server cannot be reached.
    case unreachable(Place, ConnectFailure)
    /// The server sent bytes; reported once, if it is watched.
    case serverSpoke
    /// The time that the layer asked for has passed.
    case woke
    /// The requested handshake is done.
    case secured(TLSRequest.Leg, TLSOutcome)
    /// The requested handshake failed.
    case failed(TLSRequest.Leg, TLSFault)
}

/// An action that a layer asks for.
enum EntryAction: Sendable, Equatable {
    /// Send bytes to the client.
    case sendToClient([UInt8])
    /// Send bytes to the server, before what is relayed.
    case sendToServer([UInt8])
    /// Find out where the client meant to connect before it was redirected.
    case findDestination
    /// Connect to a server; `address` is the destination if it is an address that is already known.
    case connect(Place, address: SocketAddress? = nil)
    /// Read what the server sends, up to its first bytes.
    case watchServer
    /// Send `EntryEvent.woke` after a time; a later request replaces an earlier one.
    case wake(in: TimeAmount)
    /// Begin TLS on one of the two sockets; the bytes that no layer has consumed are the beginning of the client's.
    case secure(TLSRequest)
    /// The layer is done; the rest belongs to the next one.
    case done
    /// Reject the client. `isOrderly`: it was sent a reason, and gets time to read it; otherwise it is reset.
    case close(EntryFault, isOrderly: Bool)
}

/// Why a client could not be connected to a server, in words.
struct EntryFault: Error, CustomStringConvertible, Equatable {
    var description: String
    /// How the trace classifies it.
    var reason: CloseReason
    /// Whose fault it is.
    var side: Direction

    init(_ description: String, _ reason: CloseReason = .connectFailed, by side: Direction = .fromServer) {
        (self.description, self.reason, self.side) = (description, reason, side)
    }
}

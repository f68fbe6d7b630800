import NIOCore
import Streams

/// One step of a client's way in: a PROXY header, SOCKS, finding the server. A value without sockets.
///
/// A layer takes what happens and returns what is to be done; `EntryStack` passes events to one layer after the other, and
/// `EntryHandler` performs the actions on channels.
protocol EntryLayer: Sendable {
    /// Whether more of the client's bytes are needed before anything else can be done.
    var needsBytes: Bool { get }

    /// Takes an event.
    ///
    /// - Parameter connection: what is known of the connection. The layer takes those of the unread bytes that belong to it.
    mutating func take(_ event: EntryEvent, of connection: inout EntryConnection) -> [EntryAction]
}

/// What is known of a connection on its way in.
struct EntryConnection: Sendable {
    /// The client's address, as the socket has it or a PROXY header names it.
    var client: Endpoint
    /// The address that the client connected to.
    var reached: Endpoint
    /// Whether `client` only stands for a Unix socket.
    var isUnixClient = false
    /// What the client sent and no layer has taken.
    var unread = ByteBuffer()
}

/// What happens to a layer.
enum EntryEvent: Sendable {
    /// It is the layer's turn.
    case began
    /// The client sent more.
    case bytes
    /// The client sent FIN, or its connection is gone.
    case ended
    /// The destination that was asked for, or why there is none.
    case destination(Result<SocketAddress, EntryFault>)
    /// The server that was asked for is connected; `bound` is the proxy's end of that connection.
    case connected(bound: SocketAddress?)
    /// The server that was asked for cannot be reached.
    case unreachable(Place, ConnectFailure)
}

/// What a layer wants done.
enum EntryAction: Sendable, Equatable {
    /// Send bytes to the client.
    case sendToClient([UInt8])
    /// Send bytes to the server, before what is relayed.
    case sendToServer([UInt8])
    /// Find out where the client meant to connect to before it was redirected.
    case findDestination
    /// Connect to a server; `address` is the place where it is an address that is known already.
    case connect(Place, address: SocketAddress? = nil)
    /// The layer has done its part; the rest belongs to the next one.
    case done
    /// Send the client away. `isOrderly`: it was sent a reason, and has time to read it; else it is reset.
    case close(EntryFault, isOrderly: Bool)
}

/// Why a client did not get to a server, in words.
struct EntryFault: Error, CustomStringConvertible, Equatable {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}

/// One of the two byte streams of a connection, named by its sender.
public enum Direction: UInt8, Sendable, Hashable, CaseIterable {
    /// Bytes the client sent.
    case fromClient = 0
    /// Bytes the server sent.
    case fromServer = 1

    /// The other direction.
    @inlinable
    public var opposite: Direction { self == .fromClient ? .fromServer : .fromClient }

    /// Who sends, as traces write it: `client` or `server`.
    public var sender: String { self == .fromClient ? "client" : "server" }
}

/// Two values, one for each direction of a connection.
public struct PerDirection<Value> {
    /// The value for bytes the client sent.
    public var fromClient: Value
    /// The value for bytes the server sent.
    public var fromServer: Value

    /// A pair of values.
    @inlinable
    public init(fromClient: Value, fromServer: Value) {
        self.fromClient = fromClient
        self.fromServer = fromServer
    }

    /// The value for one direction.
    @inlinable
    public subscript(direction: Direction) -> Value {
        get { direction == .fromClient ? fromClient : fromServer }
        _modify {
            if direction == .fromClient { yield &fromClient } else { yield &fromServer }
        }
    }
}

extension PerDirection: Sendable where Value: Sendable {}
extension PerDirection: Equatable where Value: Equatable {}
extension PerDirection: Hashable where Value: Hashable {}

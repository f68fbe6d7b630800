import ArgumentParser
import Streams

/// One end of a connection, as options name it.
enum Side: String, ExpressibleByArgument, CaseIterable {
    case client, server

    /// The bytes that it sends.
    var direction: Direction { self == .client ? .fromClient : .fromServer }
}

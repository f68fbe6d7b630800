import Framing
import Streams

/// Receives a line for the user, without its line end. Text from the network in it is escaped and truncated.
package typealias PeerLog = @Sendable (String) -> Void

/// A reference server and client of a built-in format: correct by default, and real TCP.
///
/// All three run on NIO's shared event loops and end early, cleanly, when their task is cancelled.
package protocol ReferencePeer: Sendable {
    /// The name of the format it speaks, as in `BuiltInFormats`.
    static var format: String { get }

    /// The hazards of the published receivers that can be reproduced with `PeerOptions.asPublished`, by the names of `Hazard`.
    static var hazards: Set<String> { get }

    /// The time scale of the demonstration: the scale at which a heartbeat gap takes three seconds. An observer has to scale the
    /// format's heartbeat contract alike (`Format.scalingHeartbeat`).
    static var demoScale: Double { get }

    /// Serves until the task is cancelled, then closes its connections and returns.
    ///
    /// - Parameters:
    ///   - address: the address to listen on; port 0 takes a free one. SO_REUSEADDR is set.
    ///   - bound: called once, with the bound address, before any connection is accepted.
    /// - Throws: the system's error if the address cannot be bound; `PeerError`.
    static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog) async throws

    /// Runs the format's clients through a conversation that covers the whole format.
    ///
    /// - Throws: `PeerError` if the server cannot be reached, or expected data did not arrive in time; `CancellationError` if the
    ///   task was cancelled, with the connections closed cleanly.
    static func converse(with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog) async throws

    /// Runs the format's clients through a timed demonstration: merged and split frames, and one heartbeat gap if the format has
    /// heartbeats.
    ///
    /// - Throws: as `converse`.
    static func demonstrate(to server: PeerAddress, options: PeerOptions, log: @escaping PeerLog) async throws
}

extension ReferencePeer {
    package static var hazards: Set<String> { [] }
    package static var demoScale: Double { 1 }

    /// The format it speaks.
    static func wireFormat() throws -> Format {
        guard let format = try BuiltInFormats.format(named: format) else {
            throw PeerError("there is no format \(format)")
        }
        return format
    }
}

/// All reference peers. A new one is a folder with its files and one line here.
package enum ReferencePeers {
    /// All of them.
    package static let all: [any ReferencePeer.Type] = [
        ChatRelay.self,
        MagicChat.self,
        FixedFrames.self,
        Broadcasts.self,
        Envelopes.self,
        TextHeartbeat.self,
        MessageIDs.self,
        Uploads.self,
        Lines.self,
    ]

    /// The peer that speaks a format; nil if there is none.
    package static func peer(for format: String) -> (any ReferencePeer.Type)? {
        all.first { $0.format == format }
    }
}

/// Why a reference peer failed.
package struct PeerError: Error, Hashable, CustomStringConvertible {
    /// In words: the peer, what was expected, and what happened instead.
    package var description: String

    /// Why a reference peer failed.
    package init(_ description: String) {
        self.description = description
    }
}

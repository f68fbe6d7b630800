import Framing
import Streams

/// Takes a line for people, without its line end. Text from the network in it is escaped and cut.
package typealias PeerLog = @Sendable (String) -> Void

/// A reference server and client of a built-in format: correct by default, and real TCP.
///
/// All three run on NIO's shared event loops and end early, in order, when their task is cancelled.
package protocol ReferencePeer: Sendable {
    /// The name of the format it speaks, as in `BuiltInFormats`.
    static var format: String { get }

    /// The hazards of the published receivers that can be reproduced with `PeerOptions.asPublished`, by the names of `Hazard`.
    static var hazards: Set<String> { get }

    /// The time scale of the demonstration: what it takes to show a heartbeat gap in three seconds. Whoever watches has to
    /// scale the format's heartbeat contract alike (`Format.scalingHeartbeat`).
    static var demoScale: Double { get }

    /// Serves until the task is cancelled, then closes its connections and returns.
    ///
    /// - Parameters:
    ///   - address: where to listen; port 0 takes a free one. SO_REUSEADDR is set.
    ///   - bound: called once, with the address that was bound, before any connection is accepted.
    /// - Throws: the system's error where the address cannot be bound; `PeerError`.
    static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog) async throws

    /// Runs the format's clients through a conversation that shows all of it.
    ///
    /// - Throws: `PeerError` where the server is not reached, or something that should arrive did not in time;
    ///   `CancellationError` where the task was cancelled, with the connections closed in order.
    static func converse(with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog) async throws

    /// Runs the format's clients through what a demonstration has to show, by a clock: merged and split frames, and one
    /// heartbeat gap where the format has heartbeats.
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

/// The reference peers there are. A new one is a folder with its files and one line here.
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

    /// The peer that speaks a format; nil where there is none.
    package static func peer(for format: String) -> (any ReferencePeer.Type)? {
        all.first { $0.format == format }
    }
}

/// Why a reference peer could not do its part.
package struct PeerError: Error, Hashable, CustomStringConvertible {
    /// For people: who, what was expected, and what happened instead.
    package var description: String

    /// Why a reference peer could not do its part.
    package init(_ description: String) {
        self.description = description
    }
}

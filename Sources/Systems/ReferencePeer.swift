import Streams

/// Receives a line for the user, without its line end. Text from the network in it is escaped and truncated.
package typealias PeerLog = @Sendable (String) -> Void

/// A system's reference server and clients: correct by default, and as published where that is asked for.
package protocol ReferencePeer: Sendable {
    /// Its server.
    associatedtype Server: PeerMachine
    /// One of its clients.
    associatedtype Client: PeerMachine

    /// The name of the format it speaks, as in `BuiltInFormats`.
    static var format: String { get }

    /// The hazards of the published receivers that can be reproduced with `PeerOptions.asPublished`, by the names of `Hazard`.
    static var hazards: Set<String> { get }

    /// The time scale of the demonstration: the scale at which a heartbeat gap takes three seconds. An observer has to scale the
    /// format's heartbeat contract alike (`Format.scalingHeartbeat`).
    static var demoScale: Double { get }

    /// What reads the frames that `direction` sends, with the hazards that are asked for; nil: the format's own reader.
    static func reader(_ setup: PeerSetup, from direction: Direction) -> (any MessageReader)?

    /// The server, without connections.
    static func server(_ setup: PeerSetup) throws(PeerError) -> Server

    /// A conversation of the clients that covers the whole format.
    static func conversation(_ setup: PeerSetup) throws(PeerError) -> PeerScript<Client>

    /// A timed demonstration: merged and split frames, and one heartbeat gap if the format has heartbeats.
    static func demonstration(_ setup: PeerSetup) throws(PeerError) -> PeerScript<Client>
}

extension ReferencePeer {
    package static var hazards: Set<String> { [] }
    package static var demoScale: Double { 1 }
    package static func reader(_ setup: PeerSetup, from direction: Direction) -> (any MessageReader)? { nil }
}

/// All reference peers. A new one is a folder with its files and one line here.
package enum ReferencePeers {
    /// All of them.
    package static let all: [any ReferencePeer.Type] = [
        ChatRelay.self, MagicChat.self, FixedFrames.self, Broadcasts.self, Envelopes.self, TextHeartbeat.self,
        MessageIDs.self, Uploads.self, Lines.self,
    ]

    /// The peer that speaks a format; nil if there is none.
    package static func peer(for format: String) -> (any ReferencePeer.Type)? { all.first { $0.format == format } }
}

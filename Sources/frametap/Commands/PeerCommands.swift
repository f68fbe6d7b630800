import ArgumentParser
import Framing
import Peers
import Platform
import Proxy
import Systems

/// `frametap serve`: one reference server on its own.
struct ServeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve", abstract: "Run the reference server of a format, or replay a recorded one.")

    @Argument(
        help: "The format; with --replay also a format file, by default the recording's.",
        completion: PeerCommandOptions.formats)
    var format: String?

    @Option(help: ArgumentHelp("Where to listen; port 0 lets the system choose.", valueName: "address:port"))
    var listen: HostPort

    @Flag(help: "Keep messages for targets that are not connected.")
    var storeOffline = false

    @OptionGroup var peer: PeerCommandOptions
    @OptionGroup(title: "Replaying") var replay: ReplayCommandOptions

    func validate() throws { try replay.validate(format) }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        guard replay.trace == nil else {
            try replay.reject(peer.given + [("--store-offline", storeOffline)])
            return try await replay.serve(listen, format, keys: peer.keys)
        }
        let format = format ?? ""
        let reference = try peer.peer(format)
        var options = try peer.options(for: format)
        options.storeOffline = storeOffline
        let address = PeerAddress(host: listen.host, port: listen.port)
        let (signals, serving) = EndSignals.cancelling { [options] in
            try await reference.serve(
                at: address, options: options, bound: { warn("listening on \($0)") }, log: { print($0) })
        }
        defer { signals.cancel() }
        try await PeerCommandOptions.run { try await serving.value }
    }
}

/// `frametap connect`: one reference client on its own.
struct ConnectCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect",
        abstract: "Run the reference clients of a format through their conversation, or replay recorded ones.")

    @Argument(
        help: "The format; with --replay also a format file, by default the recording's.",
        completion: PeerCommandOptions.formats)
    var format: String?

    @Option(help: ArgumentHelp("The server.", valueName: "host:port"))
    var to: HostPort

    @Option(help: "Repeat the conversation this many times.")
    var rounds = 1

    @OptionGroup var peer: PeerCommandOptions
    @OptionGroup(title: "Replaying") var replay: ReplayCommandOptions

    func validate() throws { try replay.validate(format) }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        guard replay.trace == nil else {
            try replay.reject(peer.given + [("--rounds", rounds != 1)])
            return try await replay.connect(to, format, keys: peer.keys)
        }
        let format = format ?? ""
        let reference = try peer.peer(format)
        var options = try peer.options(for: format)
        options.rounds = rounds
        let address = PeerAddress(host: to.host, port: to.port)
        let conversation = Task { [options] in
            try await reference.converse(with: address, options: options, log: { print($0) })
        }
        let signals = EndSignals { conversation.cancel() }
        defer { signals.cancel() }
        try await PeerCommandOptions.run { try await conversation.value }
    }
}

/// The hazards that can be reproduced, one line per format.
private let hazardsByFormat = ReferencePeers.all.filter { !$0.hazards.isEmpty }
    .map { "\($0.format): \($0.hazards.sorted().joined(separator: ", "))" }.joined(separator: "\n")

/// The options of both kinds of peers.
struct PeerCommandOptions: ParsableArguments {
    /// Completes the formats that have reference peers.
    static var formats: CompletionKind { .list(ReferencePeers.all.map { $0.format }) }

    @Option(help: "Multiply every interval of the protocol by this.")
    var timeScale = 1.0

    @Option(
        help: ArgumentHelp(
            "Behave as the published programs do, with these known faults, separated by commas.",
            discussion: hazardsByFormat, valueName: "hazard,…"),
        completion: .list(Set(ReferencePeers.all.flatMap { $0.hazards }).sorted()))
    var asPublished: String?

    @Option(
        name: .customLong("key"),
        help: ArgumentHelp(
            "Encrypt bodies with this key: FORMAT=HEX, or the other notations of decode's --key. With --replay, too.",
            valueName: "format=key"))
    var keys: [String] = []

    func validate() throws {
        guard timeScale > 0, timeScale.isFinite else {
            throw ValidationError("--time-scale is \(timeScale); expected a number above 0")
        }
    }

    /// The options that only the reference peers have, and whether they are given.
    var given: [(option: String, isGiven: Bool)] {
        [("--time-scale", timeScale != 1), ("--as-published", asPublished != nil)]
    }

    /// The options for the peers of a format.
    func options(for format: String) throws -> PeerOptions {
        var options = PeerOptions()
        options.key = try BodyOptions.key(format, among: keys)
        options.timeScale = timeScale
        options.asPublished = hazards
        return options
    }

    private var hazards: Set<String> {
        Set((asPublished ?? "").split(separator: ",").map { String($0.drop { $0 == " " }) })
    }

    /// The peers of a format, if they have the requested hazards.
    func peer(_ format: String) throws -> any ReferencePeer.Type {
        let peer = try Self.peer(format)
        guard let unknown = hazards.subtracting(peer.hazards).min() else { return peer }
        let known = peer.hazards.isEmpty ? "none" : peer.hazards.sorted().joined(separator: ", ")
        throw ValidationError("there is no hazard \(unknown) to reproduce in \(format); known are \(known)")
    }

    static func peer(_ format: String) throws -> any ReferencePeer.Type {
        if let peer = ReferencePeers.peer(for: format) { return peer }
        let known = ReferencePeers.all.map { $0.format }.joined(separator: ", ")
        throw ValidationError("there are no reference peers for \(format); known are \(known)")
    }

    /// Runs a peer; cancellation is not an error.
    static func run(_ work: () async throws -> Void) async throws {
        do {
            try await work()
        } catch is CancellationError {
        } catch {
            throw CommandError(connectionCause(of: error))
        }
    }
}

import Framing
import Streams
import Synchronization
import Testing

@testable import Systems

/// An artificial time.
func at(_ seconds: Double) -> Timestamp { Timestamp(nanoseconds: 0) + .seconds(seconds) }

/// The setup of a system's peers.
func setup(
    _ peer: any ReferencePeer.Type, asPublished: Set<String> = [], timeScale: Double = 1, key: [UInt8]? = nil,
    storage: any UploadStorage = MemoryStorage()
) throws -> PeerSetup {
    var options = PeerOptions()
    (options.asPublished, options.timeScale, options.key) = (asPublished, timeScale, key)
    return try PeerSetup(peer, options) { () throws(PeerError) in storage }
}

/// The actions, without the messages.
func deeds(_ actions: [PeerAction]) -> [PeerAction] {
    actions.filter { if case .log = $0 { false } else { true } }
}

/// The messages.
func said(_ actions: [PeerAction]) -> String {
    actions.compactMap { if case .log(let line) = $0 { line } else { nil } }.joined(separator: "\n")
}

/// A frame without head.
func frame(_ text: String) -> PeerMessage { PeerMessage(body: Array(text.utf8)) }

/// A reader's results for consecutive reads.
func read(_ reads: [[UInt8]], with reader: some MessageReader) -> [PeerInput] {
    var reader = reader
    return reads.flatMap { reader.receive($0.span.bytes, at: at(0)) }
}

/// The bodies of the frames among inputs, as text.
func texts(_ inputs: [PeerInput]) -> [String] {
    inputs.compactMap { input in
        guard case .message(let message) = input else { return nil }
        return String(decoding: message.body, as: UTF8.self)
    }
}

func wireFormat(_ name: String) throws -> Format {
    try #require(try BuiltInFormats.format(named: name))
}

/// Keeps uploads in memory, or refuses them.
final class MemoryStorage: UploadStorage {
    let place = "memory"
    private let failure: String?
    private let state = Mutex<(uploads: [Upload], isRemoved: Bool)>(([], false))

    init(failure: String? = nil) { self.failure = failure }

    func store(_ upload: Upload) throws(PeerError) {
        if let failure { throw PeerError(failure) }
        state.withLock { $0.uploads.append(upload) }
    }

    func remove() { state.withLock { $0.isRemoved = true } }

    var isRemoved: Bool { state.withLock { $0.isRemoved } }

    /// What was stored since the last call.
    func take() -> [Upload] {
        state.withLock { state in
            defer { state.uploads = [] }
            return state.uploads
        }
    }
}

import Framing
import Streams
import Testing

@testable import Peers

/// An artificial time.
func at(_ seconds: Double) -> Timestamp { Timestamp(nanoseconds: 0) + .seconds(seconds) }

/// The actions, without the messages.
func deeds(_ actions: [ServerAction]) -> [ServerAction] {
    actions.filter { if case .log = $0 { false } else { true } }
}

/// The actions, without the messages.
func deeds(_ actions: [ClientAction]) -> [ClientAction] {
    actions.filter { if case .log = $0 { false } else { true } }
}

/// A frame without head.
func frame(_ text: String) -> PeerInput { .message(PeerMessage(fields: [], body: Array(text.utf8))) }

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

import Framing
import Streams

/// A client of `line`: counts the answers.
package struct LineClientState: PeerMachine {
    /// The actions that it asks for.
    package typealias Action = PeerAction<Never, Never>

    /// How many lines the server has sent.
    package private(set) var answers = 0
    /// Whether it is connected.
    package private(set) var isConnected = false

    private var codec: FrameCodec

    /// A client that is not connected.
    package init(_ format: Format) {
        codec = FrameCodec(format, sending: .fromClient)
    }

    package mutating func started(at time: Timestamp) -> [Action] { [.connect(after: .seconds(0))] }

    package mutating func opened(_ number: Int, with peer: String, at time: Timestamp) -> [Action] {
        isConnected = true
        return [.log("connected")]
    }

    package mutating func closed(_ number: Int, error: String?, at time: Timestamp) -> [Action] {
        isConnected = false
        return [.log(error ?? "the connection is closed")]
    }

    package mutating func received(_ bytes: [UInt8], on number: Int, at time: Timestamp) -> [Action] {
        codec.receive(bytes.span.bytes, at: time).map { input in
            switch input {
            case .unframed(let byteCount, let detail): return .log("\(byteCount) B without frame: \(detail)")
            case .message(let line):
                answers += 1
                return .log("got \(FieldValue.text(String(decoding: line.body, as: UTF8.self)).shortDescription)")
            }
        }
    }
}

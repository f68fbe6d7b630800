import Framing
import Streams

/// The server of `line`: answers each line; the line `esc` ends the session.
package struct LineServerState: PeerMachine {
    /// The actions that it asks for.
    package typealias Action = PeerAction<Never, Never>

    /// Its answer: 13 bytes.
    package static let answer = Array("我是回答\n".utf8)

    private let format: Format
    private let goesByReads: Bool
    private var connections: [Int: FrameCodec] = [:]

    /// A server without connections.
    ///
    /// - Parameter options: `asPublished` may have `per-read`: it answers every read, and recognises `esc` CRLF only if that is
    ///   the whole read.
    package init(_ format: Format, options: PeerOptions) {
        self.format = format
        goesByReads = options.asPublished.contains("per-read")
    }

    package mutating func opened(_ number: Int, with peer: String, at time: Timestamp) -> [Action] {
        connections[number] = FrameCodec(format, sending: .fromServer)
        return [.log("#\(number) connected from \(peer)")]
    }

    package mutating func closed(_ number: Int, error: String?, at time: Timestamp) -> [Action] {
        guard connections.removeValue(forKey: number) != nil else { return [] }
        return [.log("#\(number) left" + (error.map { ": \($0)" } ?? ""))]
    }

    package mutating func received(_ bytes: [UInt8], on number: Int, at time: Timestamp) -> [Action] {
        if goesByReads, connections[number] != nil {
            return bytes == Array("esc\r\n".utf8) ? end(number) : answer(bytes, on: number)
        }
        var actions: [Action] = []
        for input in connections[number]?.receive(bytes.span.bytes, at: time) ?? [] {
            switch input {
            case .unframed(let byteCount, let detail):
                actions.append(.log("#\(number) \(byteCount) B without frame: \(detail)"))
            case .message(let line) where line.body == Array("esc".utf8): return actions + end(number)
            case .message(let line): actions += answer(line.body, on: number)
            }
        }
        return actions
    }

    private func answer(_ bytes: [UInt8], on number: Int) -> [Action] {
        let text = FieldValue.text(String(decoding: bytes, as: UTF8.self)).shortDescription
        return [.log("#\(number) \(text)"), .write(Self.answer, connection: number)]
    }

    private mutating func end(_ number: Int) -> [Action] {
        connections[number] = nil
        return [.log("#\(number) says goodbye"), .close(connection: number)]
    }
}

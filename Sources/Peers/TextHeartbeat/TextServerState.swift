import Framing
import Streams

/// The server of `text-heartbeat`: distinguishes clients by their connections, forgets silent ones, and answers free text (the
/// answer is our choice: `收到 ` and the text).
package struct TextServerState: PeerMachine {
    /// The actions that it asks for.
    package typealias Action = PeerAction<Alarm, Never>

    /// The alarms that it sets.
    package enum Alarm: Hashable, Sendable {
        /// Time to sweep for silent clients.
        case sweep
    }

    private struct Client {
        var codec: FrameCodec
        var character = UnfinishedCharacter()
        var version: String?
        var lastRead: Timestamp
        var isAlive = true
    }

    private let format: Format
    private let silence: Interval
    private let cutsCharacters: Bool
    private var clients: [Int: Client] = [:]
    /// The published way of distinguishing clients, which replaces distinguishing them by their connections.
    private var byText: ClientsByText?

    /// A server without connections.
    ///
    /// - Parameter options: scales the sweep's interval and the silence it allows, 10 s each. `asPublished` may have
    ///   `keyed-by-text` and `cut-character`.
    package init(_ format: Format, options: PeerOptions) {
        self.format = format
        silence = options.tolerated(.seconds(10))
        cutsCharacters = options.asPublished.contains("cut-character")
        byText = options.asPublished.contains("keyed-by-text") ? ClientsByText() : nil
    }

    package mutating func started(at time: Timestamp) -> [Action] { [.alarm(.sweep, after: silence)] }

    package mutating func opened(_ number: Int, with peer: String, at time: Timestamp) -> [Action] {
        clients[number] = Client(codec: FrameCodec(format, sending: .fromServer), lastRead: time)
        return [.log("#\(number) connected from \(peer)")]
    }

    package mutating func received(_ bytes: [UInt8], on number: Int, at time: Timestamp) -> [Action] {
        guard var client = clients[number] else { return [] }
        if cutsCharacters, UnfinishedCharacter.unfinished(at: bytes) > 0 {
            clients[number] = nil
            return [
                .log("#\(number) the published server crashes: a read ends inside a character, so it is no text"),
                .close(connection: number),
            ]
        }
        var actions: [Action] = []
        if let said = byText?.heard(bytes, at: time) { actions.append(.log("#\(number) \(said)")) }
        client.lastRead = time
        if !client.isAlive, byText == nil { actions.append(.log("#\(number) is back")) }
        client.isAlive = true
        let text = client.character.complete(with: bytes)
        for case .message(let message) in client.codec.receive(text.span.bytes, at: time) {
            if let version = HeartbeatText.version(in: message.body) {
                if client.version != version { actions.append(.log("#\(number) runs version \(version)")) }
                client.version = version
            } else {
                let text = String(decoding: message.body, as: UTF8.self)
                actions.append(.log("#\(number) \(FieldValue.text(text).shortDescription)"))
                actions.append(.write(Array("收到 \(text)".utf8), connection: number))
            }
        }
        clients[number] = client
        return actions
    }

    package mutating func closed(_ number: Int, error: String?, at time: Timestamp) -> [Action] {
        guard clients.removeValue(forKey: number) != nil else { return [] }
        return [.log("#\(number) left" + (error.map { ": \($0)" } ?? ""))]
    }

    package mutating func due(_ alarm: Alarm, at time: Timestamp) -> [Action] {
        let silence = silence
        let again = Action.alarm(.sweep, after: silence)
        if let said = byText?.sweep(silence, at: time) { return said.map { .log($0) } + [again] }
        var actions: [Action] = []
        for (number, client) in clients.sorted(by: { $0.key < $1.key }) where client.isAlive {
            guard time - client.lastRead > silence else { continue }
            clients[number]?.isAlive = false
            actions.append(.log("\(name(number, client)) forgotten: silent for \((time - client.lastRead).inSeconds)"))
        }
        let alive = clients.filter(\.value.isAlive).sorted { $0.key < $1.key }.map { name($0.key, $0.value) }
        if !clients.isEmpty {
            actions.append(.log("alive: " + (alive.isEmpty ? "nobody" : alive.joined(separator: ", "))))
        }
        return actions + [again]
    }

    private func name(_ number: Int, _ client: Client) -> String {
        "#\(number)" + (client.version.map { " (\($0))" } ?? "")
    }
}

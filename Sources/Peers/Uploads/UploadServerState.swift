import Framing
import Streams

/// The server of `tlv32`: stores each upload, and answers in the order of the requests.
package struct UploadServerState: PeerMachine {
    /// The actions that it asks for.
    package typealias Action = PeerAction<Never, Work>

    /// An upload to be stored.
    package struct Work: Hashable, Sendable {
        /// The connection it arrived on.
        package var connection: Int
        /// The upload.
        package var upload: Upload
    }

    /// The hazards of the published server (`PublishedUploadReceiver` has the others).
    static let hazards = PublishedUploadReceiver.hazards.union(["always-failure"])

    private let format: Format
    private let alwaysFails: Bool
    private var connections: [Int: FrameCodec] = [:]
    private var published: PublishedUploadReceiver?

    /// A server without connections.
    ///
    /// - Parameter options: `asPublished` may have the server's hazards.
    package init(_ format: Format, options: PeerOptions) {
        self.format = format
        alwaysFails = options.asPublished.contains("always-failure")
        let hazards = options.asPublished.intersection(PublishedUploadReceiver.hazards)
        published = hazards.isEmpty ? nil : PublishedUploadReceiver(hazards)
    }

    package mutating func opened(_ number: Int, with peer: String, at time: Timestamp) -> [Action] {
        connections[number] = FrameCodec(format, sending: .fromServer)
        return [.log("#\(number) connected from \(peer)")]
    }

    package mutating func closed(
        _ number: Int, error: String?, at time: Timestamp
    ) -> [Action] {
        guard connections.removeValue(forKey: number) != nil else { return [] }
        published?.closed(number)
        return [.log("#\(number) left" + (error.map { ": \($0)" } ?? ""))]
    }

    package mutating func received(
        _ bytes: [UInt8], on number: Int, at time: Timestamp
    ) -> [Action] {
        guard connections[number] != nil else { return [] }
        if let outputs = published?.receive(bytes, on: number) {
            return outputs.flatMap { output -> [Action] in
                switch output {
                case .upload(let upload): return received(upload, on: number)
                case .note(let note): return [.log("#\(number) the published server \(note)")]
                case .crash(let why):
                    connections[number] = nil
                    return [.log("#\(number) the published server crashes: \(why)"), .close(connection: number)]
                }
            }
        }
        return (connections[number]?.receive(bytes.span.bytes, at: time) ?? []).flatMap { input in
            switch input {
            case .unframed(let byteCount, let detail):
                return [Action.log("#\(number) \(byteCount) B without frame: \(detail)")]
            case .message(let frame): return Upload(frame).map { received($0, on: number) } ?? []
            }
        }
    }

    private func received(_ upload: Upload, on number: Int) -> [Action] {
        guard Upload.Command(rawValue: upload.command) != nil else {
            return [.log("#\(number) \(upload): not known"), answer(upload, isSuccess: false, on: number)]
        }
        return [.work(Work(connection: number, upload: upload))]
    }

    package mutating func done(_ work: Work, error: String?, at time: Timestamp) -> [Action] {
        let outcome = error.map { "not stored: \($0)" } ?? "stored"
        return [
            .log("#\(work.connection) \(work.upload), \(outcome)"),
            answer(work.upload, isSuccess: error == nil && !alwaysFails, on: work.connection),
        ]
    }

    private func answer(_ upload: Upload, isSuccess: Bool, on number: Int) -> Action {
        .write(UploadResponse(command: upload.command, isSuccess: isSuccess).bytes, connection: number)
    }
}

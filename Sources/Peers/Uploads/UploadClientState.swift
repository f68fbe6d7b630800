import Framing
import Streams

/// A client of `tlv32`: uploads, and pairs responses with its requests in order.
package struct UploadClientState: PeerMachine {
    /// The actions that it asks for.
    package typealias Action = PeerAction<Never, Never>

    /// The hazards of the published client: a read under 12 bytes throws; a second response in one read is dropped.
    static let hazards: Set<String> = ["short-response", "merged-responses"]

    /// The number of the connection; nil while there is none.
    package private(set) var connection: Int?
    /// The uploads that have not been answered, oldest first.
    package private(set) var unanswered: [Upload] = []
    /// How many uploads were answered as stored.
    package private(set) var stored = 0
    /// The first error: an upload that was not stored, or a response without a request.
    package private(set) var complaint: String?

    private let hazards: Set<String>
    private var codec: FrameCodec

    /// A client that is not connected.
    ///
    /// - Parameter options: `asPublished` may have the client's hazards.
    package init(_ format: Format, options: PeerOptions) {
        hazards = options.asPublished
        codec = FrameCodec(format, sending: .fromClient)
    }

    /// Bytes that contain these uploads are about to be sent.
    package mutating func expect(_ uploads: [Upload]) -> [Action] {
        unanswered += uploads
        return uploads.map { .log("uploads \($0)") }
    }

    package mutating func started(at time: Timestamp) -> [Action] { [.connect(after: .seconds(0))] }

    package mutating func opened(_ number: Int, with peer: String, at time: Timestamp) -> [Action] {
        connection = number
        return [.log("connected")]
    }

    package mutating func closed(_ number: Int, error: String?, at time: Timestamp) -> [Action] {
        connection = nil
        return [.log(error ?? "the connection is closed")]
    }

    package mutating func received(_ bytes: [UInt8], on number: Int, at time: Timestamp) -> [Action] {
        guard connection == number else { return [] }
        if hazards.contains("short-response"), bytes.count < 12 {
            connection = nil
            return [
                .log("the published client crashes: \(bytes.count) B are no response, yet it reads 12"),
                .close(connection: number),
            ]
        }
        var taken = bytes
        var actions: [Action] = []
        if hazards.contains("merged-responses"), bytes.count > 12 {
            taken = Array(bytes.prefix(12))
            actions.append(.log("the published client drops \(bytes.count - 12) B behind a response"))
        }
        for input in codec.receive(taken.span.bytes, at: time) {
            switch input {
            case .unframed(let byteCount, let detail):
                actions.append(.log("\(byteCount) B without frame: \(detail)"))
            case .message(let frame):
                if let response = UploadResponse(frame) { actions.append(.log(received(response))) }
            }
        }
        return actions
    }

    private mutating func received(_ response: UploadResponse) -> String {
        guard let upload = unanswered.first, upload.command == response.command else {
            let what =
                "a response to command \(response.command), expected \(unanswered.first.map { "\($0)" } ?? "none")"
            complaint = complaint ?? what
            return what
        }
        unanswered.removeFirst()
        guard response.isSuccess else {
            complaint = complaint ?? "\(upload) was not stored"
            return "\(upload) was not stored"
        }
        stored += 1
        return "\(upload) was stored"
    }
}

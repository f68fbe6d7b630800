import Streams

/// A client of `tlv32`: uploads, and pairs responses with its requests in order.
package struct UploadClient: PeerMachine {
    package let setup: PeerSetup
    package let name = "the client"
    /// The uploads that have not been answered, oldest first.
    package private(set) var unanswered: [Upload] = []
    /// How many uploads were answered as stored.
    package private(set) var stored = 0
    /// The first error: an upload that was not stored, or a response without a request.
    package private(set) var failure: String?

    /// A client that is not connected.
    package init(_ setup: PeerSetup) { self.setup = setup }

    /// Bytes that contain these uploads are about to be sent.
    package mutating func expect(_ uploads: [Upload]) -> [PeerAction] {
        unanswered += uploads
        return uploads.map { .log("\(name) uploads \($0)") }
    }

    package mutating func take(_ frame: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        UploadResponse(frame).map { [.log(take($0))] } ?? []
    }

    private mutating func take(_ response: UploadResponse) -> String {
        guard let upload = unanswered.first, upload.command == response.command else {
            let expected = unanswered.first.map { "\($0)" } ?? "none"
            return fail("a response to command \(response.command), expected \(expected)")
        }
        unanswered.removeFirst()
        guard response.isSuccess else { return fail("\(upload) was not stored") }
        stored += 1
        return "\(upload) was stored"
    }

    private mutating func fail(_ what: String) -> String {
        failure = failure ?? what
        return what
    }
}

/// The published receiver of the `tlv32` client and its hazards: a read under 12 bytes throws; a second response in one read is
/// dropped. Without any it receives correctly.
struct PublishedResponseReader: MessageReader {
    static let hazards: Set = ["short-response", "merged-responses"]

    private var reader: FrameReader
    private let hazards: Set<String>

    init(_ reader: FrameReader, hazards: Set<String>) { (self.reader, self.hazards) = (reader, hazards) }

    mutating func receive(_ bytes: RawSpan, at time: Timestamp) -> [PeerInput] {
        let count = bytes.byteCount
        if hazards.contains("short-response"), count < 12 {
            return [.crash("the published client crashes: \(count) B are no response, yet it reads 12")]
        }
        guard hazards.contains("merged-responses"), count > 12 else { return reader.receive(bytes, at: time) }
        let dropped = PeerInput.note("the published client drops \(count - 12) B after a response")
        return [dropped] + reader.receive(bytes.extracting(first: 12), at: time)
    }
}

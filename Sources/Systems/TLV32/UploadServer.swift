import Streams

/// The server of `tlv32`: stores each upload, and answers in the order of the requests.
package struct UploadServer: PeerMachine {
    /// The hazards of the published server (`PublishedUploadReceiver` has the others).
    static let hazards = PublishedUploadReceiver.hazards.union(["always-failure"])

    package let setup: PeerSetup
    private let storage: any UploadStorage
    private var published: PublishedUploadReceiver?

    /// A server without connections.
    package init(_ setup: PeerSetup) throws(PeerError) {
        self.setup = setup
        storage = try setup.storage()
        let hazards = setup.options.asPublished.intersection(PublishedUploadReceiver.hazards)
        published = hazards.isEmpty ? nil : PublishedUploadReceiver(hazards)
    }

    package mutating func started(at now: Timestamp) -> [PeerAction] { [.log("uploads go to \(storage.place)")] }

    package func ended() { storage.remove() }

    package mutating func closed(_ number: Int, at now: Timestamp) -> [PeerAction] {
        published?.closed(number)
        return []
    }

    package mutating func read(
        _ bytes: [UInt8], on number: Int, at now: Timestamp, with reader: inout any MessageReader
    ) -> [PeerInput] {
        published?.receive(bytes, on: number) ?? reader.receive(bytes.span.bytes, at: now)
    }

    package mutating func take(_ frame: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        guard let upload = Upload(frame) else { return [] }
        let outcome: String
        var isStored = false
        if Upload.Command(rawValue: upload.command) == nil {
            outcome = ": not known"
        } else {
            do throws(PeerError) {
                try storage.store(upload)
                (isStored, outcome) = (true, ", stored")
            } catch {
                outcome = ", not stored: \(error)"
            }
        }
        let isSuccess = isStored && !setup.has("always-failure")
        let response = UploadResponse(command: upload.command, isSuccess: isSuccess)
        return [.log("#\(number) \(upload)\(outcome)"), .send(.bytes(response.bytes), connection: number)]
    }
}

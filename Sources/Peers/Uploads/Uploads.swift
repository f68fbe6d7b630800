import Framing
import Streams

/// The reference peers of `tlv32`: uploads.
package enum Uploads: ReferencePeer {
    package static let format = "tlv32"
    /// The hazards that either end can reproduce. Each side ignores the other's.
    package static let hazards = UploadServerState.hazards.union(UploadClientState.hazards)

    /// Stores uploads in `options.uploadFolder`, or in a temporary folder that is removed at the end.
    package static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog
    ) async throws {
        try options.check(hazards: hazards)
        let state = UploadServerState(try SimpleFormat.named(format), options: options)
        let folder = try UploadFolder(at: options.uploadFolder)
        defer { folder.remove() }
        log("uploads go to \(folder.path)")
        try await SimpleServer.run(state, at: address, options: options, bound: bound, log: log) { work in
            try folder.store(work.upload)
        }
    }

    /// One upload of each kind; two merged in one write; one split over two. Takes about 0.5 s a round.
    package static func converse(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try await run(with: server, options, log) { client in
            for _ in 0..<options.rounds { try await converse(client) }
        }
    }

    /// The same, with time to look at each; the split one is the image. Takes about 1 s before scaling.
    package static func demonstrate(
        to server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try await run(with: server, options, log) { client in
            for upload in [text, location, voice] {
                try await client.wait(0.15)
                try await client.upload(upload)
            }
            try await client.wait(0.15)
            try await client.upload(Upload(.image, Picture.png(side: 60)), cutAt: 1_200)
            try await client.wait(0.15)
            try await client.upload(Upload(.text, Array("one".utf8)), Upload(.text, Array("two".utf8)))
            try await client.wait(0.15)
        }
    }

    private typealias Client = SimpleClient<UploadClientState>

    private static let text = Upload(.text, Array("Hello".utf8))
    private static let location = Upload(.location, Array("31.230416,121.473701".utf8))
    /// An AMR file's head (RFC 4867 §5) and frames of 12.2 kbit/s, whose content is the picture's.
    private static let voice: Upload = {
        let noise = Picture.png(side: 30).suffix(310)
        let frames = (0..<10).flatMap { [0x3c] + noise.dropFirst(31 * $0).prefix(31) }
        return Upload(.voice, Array("#!AMR\n".utf8) + frames)
    }()

    private static func converse(_ client: Client) async throws {
        try await client.upload(Upload(.image, Picture.png(side: 100)))
        try await client.upload(text)
        try await client.upload(location)
        try await client.upload(voice)
        try await client.upload(
            Upload(.text, Array("你好".utf8)), Upload(.location, Array("39.904200,116.407396".utf8)))
        try await client.upload(Upload(.image, Picture.png(side: 30)), cutAt: 6)
    }

    private static func run(
        with server: PeerAddress, _ options: PeerOptions, _ log: @escaping PeerLog,
        script: (Client) async throws -> Void
    ) async throws {
        try options.check(hazards: hazards)
        var options = options
        // Only the script decides what is in one segment.
        options.noDelay = true
        let state = UploadClientState(try SimpleFormat.named(format), options: options)
        let client = Client("the client", state, server: server, options: options, log: log)
        try await Client.run(client) { try await script(client) }
    }
}

extension SimpleClient<UploadClientState> {
    /// Sends uploads in one write, or in two, split at an offset, and waits until all were answered as stored.
    fileprivate func upload(_ uploads: Upload..., cutAt place: Int? = nil) async throws {
        try await perform { $0.expect(uploads) }
        let bytes = uploads.flatMap(\.bytes)
        if let place {
            let (first, rest) = bytes.cut(at: place)
            try await write(first, rest)
        } else {
            try await write(bytes)
        }
        let what = uploads.map { "\($0)" }.joined(separator: "; ")
        try await until("the answer to \(what)") { $0.unanswered.isEmpty || $0.complaint != nil }
        if let complaint = try await value({ $0.complaint }) { throw PeerError("\(name): \(complaint)") }
    }
}

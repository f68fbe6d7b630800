import Streams

/// The reference peers of `tlv32`: uploads.
package enum Uploads: ReferencePeer {
    package static let format = "tlv32"
    /// The hazards that either end can reproduce. Each side ignores the other's.
    package static let hazards = UploadServer.hazards.union(PublishedResponseReader.hazards)

    private typealias Step = PeerScript<UploadClient>.Step

    package static func reader(_ setup: PeerSetup, from direction: Direction) -> (any MessageReader)? {
        let reader = FrameReader(setup.format, from: direction)
        return direction == .fromClient ? nil : PublishedResponseReader(reader, hazards: setup.options.asPublished)
    }

    package static func server(_ setup: PeerSetup) throws(PeerError) -> UploadServer { try UploadServer(setup) }

    /// One upload of each kind; two merged in one write; one split over two. Takes about 0.5 s a round.
    package static func conversation(_ setup: PeerSetup) -> PeerScript<UploadClient> {
        PeerScript([UploadClient(setup)], opening: [.connect(0)]) { _ in
            [[Upload(.image, Picture.png(side: 100))], [text], [location], [voice]].flatMap { upload($0) }
                + upload([Upload(.text, Array("你好".utf8)), Upload(.location, Array("39.904200,116.407396".utf8))])
                + upload([Upload(.image, Picture.png(side: 30))], cutAt: [6])
        }
    }

    /// The same, with time to look at each; the split one is the image. Takes about 1 s before scaling.
    package static func demonstration(_ setup: PeerSetup) -> PeerScript<UploadClient> {
        let pause: [Step] = [.wait(0.15)]
        let single = [text, location, voice].flatMap { pause + upload([$0]) }
        let cut = pause + upload([Upload(.image, Picture.png(side: 60))], cutAt: [1_200])
        let merged = pause + upload([Upload(.text, Array("one".utf8)), Upload(.text, Array("two".utf8))])
        return PeerScript([UploadClient(setup)], opening: [.connect(0)], closing: single + cut + merged + pause)
    }

    private static let text = Upload(.text, Array("Hello".utf8))
    private static let location = Upload(.location, Array("31.230416,121.473701".utf8))
    /// An AMR file's head (RFC 4867 §5) and frames of 12.2 kbit/s, whose content is the picture's.
    private static let voice: Upload = {
        let noise = Picture.png(side: 30).suffix(310)
        let frames = (0..<10).flatMap { [0x3c] + noise.dropFirst(31 * $0).prefix(31) }
        return Upload(.voice, Array("#!AMR\n".utf8) + frames)
    }()

    /// Sends uploads in one write, or split at offsets, and waits until all were answered as stored.
    private static func upload(_ uploads: [Upload], cutAt places: [Int] = []) -> [Step] {
        let what = uploads.map { "\($0)" }.joined(separator: "; ")
        return [
            .tell(0) { client, _ in client.expect(uploads) },
            .send(0, .bytes(uploads.flatMap(\.bytes)), cutAt: places),
            .until(0, "the answer to \(what)") { $0.unanswered.isEmpty },
        ]
    }
}

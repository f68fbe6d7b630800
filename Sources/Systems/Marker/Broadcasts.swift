import Streams

/// The reference peers of `marker`: a server that broadcasts to three devices and counts their receipts.
package enum Broadcasts: ReferencePeer {
    package static let format = "marker"
    package static let hazards: Set = ["split-frame", "lost-receipt"]
    package static let demoScale = 0.25

    private typealias Step = PeerScript<BroadcastDevice>.Step

    package static func reader(_ setup: PeerSetup, from direction: Direction) -> (any MessageReader)? {
        setup.has("split-frame")
            ? PerReadSplitter() : FrameReader(setup.format, from: direction, isWhole: BroadcastText.isWhole)
    }

    package static func server(_ setup: PeerSetup) -> BroadcastServer { BroadcastServer(setup) }

    /// Five rounds; one receipt is split in two, and with a hazard one is never sent.
    package static func conversation(_ setup: PeerSetup) -> PeerScript<BroadcastDevice> {
        let swallowed: [Step] =
            setup.has("lost-receipt") ? [.set(2) { $0.swallowsNextReceipt = true }] : []
        return script(
            setup,
            [.set(1) { $0.cutsNextReceipt = true }] + swallowed + confirm(5 * setup.options.rounds) + [.wait(0.5)])
    }

    /// The demonstration, in seconds before scaling:
    ///
    ///     0    three devices connect and introduce themselves six times each, the first one thrice more in one write
    ///     1    first broadcast; the second device cuts its receipt in two; two more at 3 and 4
    ///     4    the third device leaves out three heartbeats: the one gap
    ///     8.6  all disconnect
    package static func demonstration(_ setup: PeerSetup) -> PeerScript<BroadcastDevice> {
        let link = PeerMessage(body: Array("Link-设备:iPhone1".utf8))
        return script(
            setup,
            [.send(0, .messages([link, link, link])), .set(1) { $0.cutsNextReceipt = true }] + confirm(3)
                + [.set(2) { $0.heartbeatsToSkip = 3 }, .wait(4.6)])
    }

    private static func script(_ setup: PeerSetup, _ steps: [Step]) -> PeerScript<BroadcastDevice> {
        PeerScript(
            (1...3).map { BroadcastDevice(setup, name: "iPhone\($0)") }, decidesSegments: false,
            opening: (0..<3).map { .connect($0) }, closing: steps)
    }

    /// Waits until every device has confirmed this many broadcasts: at most 5 s between them, plus some time for the receipts.
    private static func confirm(_ count: Int) -> [Step] {
        (0..<3).map { .until($0, "\(count) broadcasts", after: 6 * Double(count)) { $0.broadcasts >= count } }
    }
}

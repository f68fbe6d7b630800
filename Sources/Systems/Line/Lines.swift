/// The reference peers of `line`: text lines.
package enum Lines: ReferencePeer {
    package static let format = "line"
    /// The server reproduces it; the published client ends with a line that the published server never understands.
    package static let hazards: Set = ["per-read"]

    package static func server(_ setup: PeerSetup) -> LineServer { LineServer(setup) }

    /// Three lines, two of them merged in one write and one split over two, and `esc`. A connection and 0.2 s for each round.
    package static func conversation(_ setup: PeerSetup) -> PeerScript<LineClient> { script(setup, pause: 0) }

    /// The same, with time to look at each. Takes about 1 s before scaling.
    package static func demonstration(_ setup: PeerSetup) -> PeerScript<LineClient> { script(setup, pause: 0.25) }

    private static func script(_ setup: PeerSetup, pause: Double) -> PeerScript<LineClient> {
        PeerScript([LineClient(setup)]) { _ in
            [
                .connect(0), .wait(pause),
                .send(0, "How are you?\nAnd where?\r\n"), .until(0, "two answers") { $0.answers == 2 }, .wait(pause),
                // Inside 好, so that a line is split inside a character too.
                .send(0, .bytes(Array("你好\r\n".utf8)), cutAt: [4]),
                .until(0, "three answers") { $0.answers == 3 }, .wait(pause),
                .send(0, setup.has("per-read") ? "esc\n" : "esc\r\n"),
                .until(0, "the end of the session") { !$0.isConnected }, .disconnect(0),
            ]
        }
    }
}

import Streams

/// The reference peers of `fixed`: frames of four bytes, echoed.
package enum FixedFrames: ReferencePeer {
    package static let format = "fixed"
    package static let hazards: Set = ["counts-characters"]

    package static func reader(_ setup: PeerSetup, from direction: Direction) -> (any MessageReader)? {
        setup.has("counts-characters") ? CharacterCounter() : nil
    }

    package static func server(_ setup: PeerSetup) -> FixedEcho { FixedEcho(setup) }

    package static func conversation(_ setup: PeerSetup) -> PeerScript<FixedClient> {
        script(TestArray.all + (setup.has("counts-characters") ? [.beyondASCII] : []), setup)
    }

    package static func demonstration(_ setup: PeerSetup) -> PeerScript<FixedClient> { script([.mixed], setup) }

    /// Sends each array on a connection of its own, and waits for the echo of all its frames.
    private static func script(_ arrays: [TestArray], _ setup: PeerSetup) -> PeerScript<FixedClient> {
        PeerScript(arrays.map { FixedClient(setup, name: $0.name) }) { _ in
            arrays.enumerated().flatMap { index, array -> [PeerScript<FixedClient>.Step] in
                let (whole, count) = (array.echo, array.echo.count)
                return [
                    .connect(index), .send(index, .bytes(array.parts.flatMap { $0 }), cutAt: array.cuts),
                    .until(index, "the echo of \(count) bytes") { $0.echoed.count >= count },
                    .until(index, "the same \(count) bytes", after: nil) { $0.echoed == whole },
                    // Bytes that must not arrive would arrive now.
                    .wait(0.1), .until(index, "no more than \(count) bytes", after: nil) { $0.echoed == whole },
                    .disconnect(index),
                ]
            }
        }
    }
}

/// The server of `fixed`: sends every frame back.
package struct FixedEcho: PeerMachine {
    package let setup: PeerSetup

    /// A server without connections.
    package init(_ setup: PeerSetup) { self.setup = setup }

    package mutating func take(_ frame: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        [.log("#\(number) \(shown(frame.body))"), .send(.bytes(frame.body), connection: number)]
    }
}

/// A client of `fixed`: collects the echoes.
package struct FixedClient: PeerMachine {
    package let setup: PeerSetup
    package let name: String
    /// The bytes of all echoed frames.
    package private(set) var echoed: [UInt8] = []

    /// A client that has received nothing yet.
    package init(_ setup: PeerSetup, name: String) { (self.setup, self.name) = (setup, name) }

    package mutating func take(_ frame: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        echoed += frame.body
        return [.log("\(name) got \(shown(frame.body))")]
    }
}

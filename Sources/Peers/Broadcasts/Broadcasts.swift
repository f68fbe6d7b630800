import Framing
import Streams

/// The reference peers of `marker`: a server that broadcasts to three devices and counts their receipts.
package enum Broadcasts: ReferencePeer {
    package static let format = "marker"
    package static let hazards: Set = ["split-frame", "lost-receipt"]
    package static let demoScale = 0.25

    package static func serve(
        at address: PeerAddress, options: PeerOptions, bound: @escaping @Sendable (Endpoint) -> Void,
        log: @escaping PeerLog
    ) async throws {
        let codec = try codec(of: .fromServer, options)
        try await PeerServer.run(
            BroadcastServerState(options: options), at: address, options: options, bound: bound, log: log, codec: codec)
    }

    package static func converse(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try await run(with: server, options: options, log: log) { script, devices in
            // A receipt that is split in two, and with a hazard one that is never sent.
            try await devices[1].perform { device in
                device.cutsNextReceipt = true
                return []
            }
            if options.asPublished.contains("lost-receipt") {
                try await devices[2].perform { device in
                    device.swallowsNextReceipt = true
                    return []
                }
            }
            try await confirm(5 * options.rounds, script, devices)
            try await script.wait(0.5)
        }
    }

    /// The demonstration, in seconds before scaling:
    ///
    ///     0    three devices connect and introduce themselves six times each, the first one thrice more in one write
    ///     1    first broadcast; the second device cuts its receipt in two; two more at 3 and 4
    ///     4    the third device leaves out three heartbeats: the one gap
    ///     8.6  all disconnect
    package static func demonstrate(
        to server: PeerAddress, options: PeerOptions, log: @escaping PeerLog
    ) async throws {
        try await run(with: server, options: options, log: log) { script, devices in
            // Introductions in one write.
            let name = devices[0].name
            try await devices[0].perform { _ in
                let link = PeerMessage(fields: [], body: Array("Link-设备:\(name)".utf8))
                return [.send(.messages([link, link, link]))]
            }
            try await devices[1].perform { device in
                device.cutsNextReceipt = true
                return []
            }
            try await confirm(3, script, devices)
            try await devices[2].perform { device in
                device.heartbeatsToSkip = 3
                return []
            }
            try await script.wait(4.6)
        }
    }

    /// Waits until every device has confirmed this many broadcasts.
    private static func confirm(
        _ count: Int, _ script: PeerScript, _ devices: [PeerClient<DeviceState>]
    ) async throws {
        // At most 5 s between rounds, plus some time for the receipts.
        let limit = script.options.limit(.seconds(6 * Double(count)))
        for device in devices {
            try await device.wait(for: "\(count) broadcasts", within: limit) { $0.broadcasts >= count }
        }
    }

    private static func run(
        with server: PeerAddress, options: PeerOptions, log: @escaping PeerLog,
        steps: (PeerScript, [PeerClient<DeviceState>]) async throws -> Void
    ) async throws {
        let script = PeerScript(options)
        let codec = try codec(of: .fromClient, options)
        let devices = ["iPhone1", "iPhone2", "iPhone3"].map { name in
            PeerClient(
                DeviceState(name: name, options: options, clockOffset: .fromMonotonicToTimeOfDay), of: server,
                options: options, log: log, codec: codec)
        }
        try await script.run(devices) { try await steps(script, devices) }
    }

    private static func codec(
        of side: Direction, _ options: PeerOptions
    ) throws -> @Sendable () -> FrameCodec {
        try options.check(hazards: hazards)
        let format = try wireFormat()
        let splitsReads = options.asPublished.contains("split-frame")
        return {
            let reader: any MessageReader =
                splitsReads
                ? PerReadSplitter()
                : FrameReader(format, from: side.opposite, isWhole: BroadcastText.isWhole)
            return FrameCodec(format, sending: side, reader: reader)
        }
    }
}

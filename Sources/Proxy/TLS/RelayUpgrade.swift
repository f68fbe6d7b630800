import NIOCore
import Streams
import TLS

/// Changes a relayed connection to TLS in the middle, as its format says: puts TLS on both sockets, below the relay.
///
/// Used on the connection's event loop only. The server's handshake comes first, as at the beginning of a connection.
final class RelayUpgrade {
    private let framing: UpgradeFraming
    private let proxy: ProxyContext
    private let sockets: (client: any Channel, server: any Channel)
    /// The sockets' lowest handlers, where they are there already.
    private let wires: (client: TLSWire?, server: TLSWire?)
    private var stack: EntryStack
    private var wake: Scheduled<Void>?
    /// Called with the handlers of a side as soon as TLS is there.
    private let secured: (TLSRequest.Leg, TLSWire, TLSEdge) -> Void
    /// Called when both handshakes are done, with the client's first bytes; or when they failed.
    private let whenDone: (Result<(early: ByteBuffer, facts: TLSFacts?), EntryFault>) -> Void

    /// - Parameters:
    ///   - wires: the sockets' lowest handlers, where they are there already.
    ///   - connection: what is known about it.
    ///   - secured: called with the handlers of each side as soon as TLS is there.
    ///   - whenDone: called once.
    init(
        _ framing: UpgradeFraming, _ proxy: ProxyContext, client: any Channel, server: any Channel,
        wires: (client: TLSWire?, server: TLSWire?), _ connection: EntryConnection,
        secured: @escaping (TLSRequest.Leg, TLSWire, TLSEdge) -> Void,
        whenDone: @escaping (Result<(early: ByteBuffer, facts: TLSFacts?), EntryFault>) -> Void
    ) {
        (self.framing, self.proxy, self.wires, sockets) = (framing, proxy, wires, (client, server))
        (self.secured, self.whenDone) = (secured, whenDone)
        stack = EntryStack([TLSLayer(proxy.options.tls, isAgreed: true)], of: connection, patience: "")
        _ = stack.begin()
    }

    /// Whether both sides have agreed on TLS: then the client's bytes come here.
    var isAgreed: Bool { framing.isAgreed }

    /// Whether the client's bytes are needed for anything to go on.
    var needsBytes: Bool { stack.needsBytes }

    /// Frames the next bytes of a direction.
    func take(_ buffer: ByteBuffer, from direction: Direction) -> [UpgradeFraming.Part] {
        buffer.withUnsafeReadableBytes { framing.take($0.bytes, from: direction) }
    }

    /// Bytes of the client after the plaintext.
    func receive(_ buffer: ByteBuffer) { perform(stack.receive(buffer)) }

    private func perform(_ actions: [EntryAction]) {
        for action in actions {
            switch action {
            case .secure(let request): secure(request)
            case .sendToClient(let bytes): sockets.client.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil)
            case .done: whenDone(.success((stack.takeUnread(), stack.connection.tls)))
            case .close(let fault, _): whenDone(.failure(fault))
            case .wake(let amount):
                wake?.cancel()
                wake = sockets.client.eventLoop.assumeIsolated().scheduleTask(in: amount) { [weak self] in
                    guard let self else { return }
                    self.perform(self.stack.take(.woke))
                }
            case .sendToServer, .findDestination, .connect, .watchServer: break
            }
        }
    }

    private func secure(_ request: TLSRequest) {
        let leg = request.leg
        func finish(_ result: Result<TLSOutcome, TLSFault>) { perform(stack.take(result, on: leg)) }
        do {
            let unread = leg == .client ? stack.takeUnread() : ByteBuffer()
            let known = leg == .client ? wires.client : wires.server
            let (wire, edge) = try proxy.secure(
                leg == .client ? sockets.client : sockets.server, request, on: known, finish)
            secured(leg, wire, edge)
            if leg == .client { wire.begin(with: unread, isRecorded: known != nil) }
        } catch {
            finish(.failure(TLSFault(beforehand: error)))
        }
    }
}

import Streams

/// How a connection began, in half the memory: most addresses are IPv4, and there may be a million connections.
struct CompactOpening {
    let number: Int
    private let time: Timestamp
    /// The addresses, unless both are IPv4.
    private let wide: WideEnds?
    /// The bits of both IPv4 addresses.
    private let (client, server): (UInt32, UInt32)
    private let (clientPort, serverPort): (UInt16, UInt16)
    private let isOut: Bool
    private let hasLeg: Bool
    private let handshake: Bool
    private let clientGuessed: Bool

    private final class WideEnds {
        let (client, server): (IPAddress, IPAddress)

        init(_ client: IPAddress, _ server: IPAddress) { (self.client, self.server) = (client, server) }
    }

    init(_ opening: Opening) {
        (number, time) = (opening.number, opening.time)
        (hasLeg, isOut) = (opening.leg != nil, opening.leg == .out)
        (handshake, clientGuessed) = (opening.handshake, opening.clientGuessed)
        let ends = (opening.client.address, opening.server.address)
        (clientPort, serverPort) = (opening.client.port, opening.server.port)
        wide = ends.0.isIPv4 && ends.1.isIPv4 ? nil : WideEnds(ends.0, ends.1)
        (client, server) = (UInt32(truncatingIfNeeded: ends.0.low), UInt32(truncatingIfNeeded: ends.1.low))
    }

    /// Which leg of the connection this is; nil if it has only one.
    var leg: Leg? { hasLeg ? (isOut ? .out : .in) : nil }

    /// All of it.
    var opening: Opening {
        Opening(
            number: number, leg: leg, time: time,
            client: Endpoint(wide?.client ?? IPAddress(v4: client), clientPort),
            server: Endpoint(wide?.server ?? IPAddress(v4: server), serverPort),
            handshake: handshake, clientGuessed: clientGuessed)
    }
}

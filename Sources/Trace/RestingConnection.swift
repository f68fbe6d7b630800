import Streams

extension Traffic {
    /// Packs or unpacks that of a resting connection.
    mutating func pass(through numbers: inout PackedNumbers) {
        numbers.pass(&frames)
        numbers.pass(&lastFrame)
    }
}

extension Opening {
    /// One to unpack another into.
    static var unknown: Opening {
        let end = Endpoint(IPAddress(v4: 0), 0)
        return Opening(number: 0, time: Timestamp(nanoseconds: 0), client: end, server: end)
    }

    /// Packs or unpacks how a connection with one leg began.
    mutating func pass(through numbers: inout PackedNumbers) {
        numbers.pass(&number)
        numbers.pass(&time)
        client.pass(through: &numbers)
        server.pass(through: &numbers)
        numbers.pass(&handshake)
        numbers.pass(&clientGuessed)
    }
}

extension Endpoint {
    fileprivate mutating func pass(through numbers: inout PackedNumbers) {
        var (isIPv4, high, low) = (address.isIPv4, address.high, address.low)
        numbers.pass(&isIPv4)
        if !isIPv4 { numbers.pass(&high) }
        numbers.pass(&low)
        var port = port
        numbers.pass(&port)
        self = Endpoint(
            isIPv4 ? IPAddress(v4: UInt32(truncatingIfNeeded: low)) : IPAddress(v6: high, low), port)
    }
}

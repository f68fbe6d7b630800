import Crypto
import Framing
import Streams
import Trace

/// Names connections independently of the trace that they are numbered in: by the time of opening, and a hash of both ends.
///
/// So their order is that of opening, and every part of a collection of captures has the same keys.
struct ConnectionKeys {
    private struct Beginning: Hashable {
        var time: Timestamp
        var client: Endpoint
        var server: Endpoint
    }

    /// How many connections began alike, of the latest ones.
    private var alike: [Beginning: Int] = [:]
    /// When they are looked through.
    private var limit = ConnectionKeys.many
    /// When there are more, only those are remembered that began in the same nanosecond as the latest one.
    private static let many = 4_096
    /// More are not remembered: there is no telling of times here.
    private static let most = 1 << 20

    /// How many connections began like the next one, with itself.
    mutating func count(_ opening: Opening) -> Int {
        let beginning = Beginning(time: opening.time, client: opening.client, server: opening.server)
        if alike.count >= limit {
            alike = alike.filter { $0.key.time == opening.time }
            if alike.count >= Self.most { alike = [:] }
            limit = max(Self.many, 2 * alike.count)
        }
        let number = alike[beginning, default: 0] + 1
        alike[beginning] = number
        return number
    }

    /// The key of a connection, as text.
    static func key(_ time: Timestamp, _ ends: ConnectionTexts, alike: Int) -> [UInt8] {
        var name: [UInt8] = []
        name.reserveCapacity(128)
        name += ends.client.utf8
        name.append(UInt8(ascii: " "))
        name += ends.server.utf8
        name.append(UInt8(ascii: " "))
        JSONOutput.integer(Int64(alike), into: &name)
        var key: [UInt8] = []
        key.reserveCapacity(64)
        key += time.rfc3339.utf8
        key.append(UInt8(ascii: "-"))
        for byte in Insecure.MD5.hash(data: name).prefix(8) { Hexadecimal.append(byte, to: &key) }
        return key
    }
}

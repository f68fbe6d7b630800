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
    /// More are not remembered: that the same ends connect twice in a nanosecond is rare, and then at once.
    private static let most = 4_096

    /// How many connections began like the next one, with itself.
    mutating func count(_ opening: Opening) -> Int {
        let beginning = Beginning(time: opening.time, client: opening.client, server: opening.server)
        if alike.count >= Self.most { alike.removeAll(keepingCapacity: true) }
        let number = alike[beginning, default: 0] + 1
        alike[beginning] = number
        return number
    }

    /// The key of a connection.
    static func key(_ time: Timestamp, _ ends: ConnectionTexts, alike: Int) -> String {
        var name = ends.client + " " + ends.server + " "
        name += String(alike)
        let digest = Insecure.MD5.hash(data: Array(name.utf8))
        return time.rfc3339 + "-" + Hexadecimal.text(Array(digest.prefix(8)))
    }
}

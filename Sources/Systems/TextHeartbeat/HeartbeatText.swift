/// The heartbeat of `text-heartbeat`: `123` and the system's version as C prints a double.
package enum HeartbeatText {
    /// The bytes that a client with this version sends: 10.3 gives `12310.300000`.
    package static func bytes(version: String) -> [UInt8] { Array("123\(version)".utf8) }

    /// The version in a message's bytes; nil if they are not a heartbeat.
    package static func version(in message: [UInt8]) -> String? {
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard message.starts(with: Array("123".utf8)) else { return nil }
        let parts = message.dropFirst(3).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, parts[1].count == 6,
            parts.allSatisfy({ $0.allSatisfy(digits.contains) })
        else { return nil }
        return String(decoding: message.dropFirst(3), as: UTF8.self)
    }
}

import Streams

/// The contents of `marker` texts, without their marker. Details that the write-up leaves open are ours.
package enum BroadcastText: Hashable, Sendable {
    /// `Link-设备:NAME-…`: a device introduces itself.
    case link(device: String)
    /// `time-设备:NAME-客户端收到数据:HH:mm:ss.SSS`: it received a broadcast, at this time of its day.
    case receipt(device: String)
    /// Anything else: from a client, a heartbeat, which is its device's name.
    case text(String)

    /// The marker at the start of every frame.
    package static let marker = Array("ab".utf8)
    /// The text that the server sends to all devices.
    package static let broadcast = "1381222333$1,1$13812223335"

    /// Parses a frame's body.
    package init(_ body: [UInt8]) {
        let text = String(decoding: body, as: UTF8.self)
        if let device = Self.device(text, after: "Link-设备:") {
            self = .link(device: device)
        } else if let device = Self.device(text, after: "time-设备:") {
            self = .receipt(device: device)
        } else {
            self = .text(text)
        }
    }

    private static func device(_ text: String, after prefix: String) -> String? {
        guard text.hasPrefix(prefix) else { return nil }
        return text.dropFirst(prefix.count).split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            .first.map(String.init)
    }

    /// The text with which a device introduces itself; it sends it several times.
    package static func link(_ device: String, at time: Timestamp) -> [UInt8] {
        Array("Link-设备:\(device)-客户端发送数据:\(timeOfDay(time))".utf8)
    }

    /// The text that confirms a broadcast.
    package static func receipt(_ device: String, at time: Timestamp) -> [UInt8] {
        Array("time-设备:\(device)-客户端收到数据:\(timeOfDay(time))".utf8)
    }

    /// Whether bytes that start with the marker are a whole frame, so that a receiver need not wait for the next one or for a
    /// pause: links and receipts end with a time of day, broadcasts with an eleven-digit number.
    package static func isWhole(_ frame: RawSpan) -> Bool {
        let bytes = frame.copied()
        guard bytes.starts(with: marker) else { return false }
        let body = bytes.dropFirst(marker.count)
        if body.starts(with: Array("Link-".utf8)) || body.starts(with: Array("time-".utf8)) {
            return ends(body, in: "00:00:00.000")
        }
        return ends(body, in: "$00000000000")
    }

    /// Whether bytes end with a pattern, in which `0` represents any digit.
    private static func ends(_ bytes: ArraySlice<UInt8>, in pattern: String) -> Bool {
        let pattern = Array(pattern.utf8)
        guard bytes.count >= pattern.count else { return false }
        return zip(bytes.suffix(pattern.count), pattern).allSatisfy { byte, wanted in
            wanted == UInt8(ascii: "0") ? (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) : byte == wanted
        }
    }

    /// `HH:mm:ss.SSS`, in UTC.
    static func timeOfDay(_ time: Timestamp) -> String {
        let day: Int64 = 86_400_000
        let rest = ((time.nanoseconds / 1_000_000) % day + day) % day
        func digits(_ number: Int64, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(rest / 3_600_000, 2)):\(digits(rest / 60_000 % 60, 2)):\(digits(rest / 1_000 % 60, 2))."
            + digits(rest % 1_000, 3)
    }
}

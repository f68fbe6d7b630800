import Framing
import Streams

/// Numbers for display.
package enum Quantities {
    /// `48,213`
    package static func grouped(_ value: Int) -> String {
        let digits = Array(String(value.magnitude))
        var text = value < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }

    /// The same, for a number that is not negative.
    static func grouped(_ value: Int, into room: inout ByteRoom) {
        guard value >= 1_000 else { return JSONOutput.integer(value, into: &room) }
        grouped(value / 1_000, into: &room)
        room.put(",")
        room.put(first: 3, of: JSONOutput.digits(of: UInt32(value % 1_000), least: 3).text)
    }

    /// `812 B`, `48.9 kB`, `1.2 GB`: decimal units, one decimal digit.
    package static func size(_ bytes: Int) -> String {
        if bytes < 1_000 { return "\(bytes) B" }
        var value = Double(bytes)
        for unit in ["kB", "MB", "GB", "TB"] {
            value /= 1_000
            if value < 999.95 || unit == "TB" { return "\(decimal(value)) \(unit)" }
        }
        return "\(bytes) B"
    }

    /// `3.0 s`, `200 ms`
    package static func seconds(_ interval: Interval, always digits: Bool = false) -> String {
        let seconds = interval.seconds
        if seconds < 0.9995 { return "\(Int((seconds * 1_000).rounded())) ms" }
        if digits || seconds.rounded() != seconds { return "\(decimal(seconds)) s" }
        return "\(Int(seconds)) s"
    }

    /// `1 frame`, `2 frames`
    package static func counted(_ count: Int, _ noun: String) -> String {
        "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
    }

    private static func decimal(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return "\(grouped(tenths / 10)).\(tenths % 10)"
    }
}

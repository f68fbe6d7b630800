import ArgumentParser
import Streams

/// A count of bytes, as in `65536`, `64KiB`, `2.5MB` or `4 MiB`.
struct ByteAmount: ExpressibleByArgument {
    /// The units, for messages.
    static let units = "kB, MB, GB, KiB, MiB, GiB"

    let bytes: Int

    init(bytes: Int) {
        self.bytes = bytes
    }

    init?(argument: String) {
        var text = argument[...]
        guard let (number, unit) = text.removeQuantity(), text.isEmpty, let factor = Self.factor(unit),
            number * factor <= Double(1 << 40), factor > 1 || number == number.rounded()
        else { return nil }
        bytes = Int((number * factor).rounded())
    }

    /// How many bytes a unit has, in either case. Not `m`: that is a minute.
    private static func factor(_ unit: String) -> Double? {
        switch unit == "M" ? "mb" : unit.lowercased() {
        case "", "b": 1
        case "k", "kb": 1e3
        case "mb": 1e6
        case "g", "gb": 1e9
        case "kib": Double(1 << 10)
        case "mib": Double(1 << 20)
        case "gib": Double(1 << 30)
        default: nil
        }
    }

    var defaultValueDescription: String {
        for (factor, unit) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        where bytes > 0 && bytes % factor == 0 {
            return "\(bytes / factor)\(unit)"
        }
        return "\(bytes)"
    }
}

/// A length of time, as in `500ms`, `90s`, `5min` or `1h30m`; a number alone is in seconds, and `0` means none.
struct TimeAmount: ExpressibleByArgument {
    /// The units, for messages.
    static let units = "us, ms, s, min, h, d"

    let interval: Interval

    init(seconds: Double) {
        interval = .seconds(seconds)
    }

    init?(argument: String) {
        let factors = [
            "us": 1e-6, "ms": 1e-3, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3_600, "d": 86_400,
        ]
        var text = argument[...]
        guard let first = text.removeQuantity() else { return nil }
        // Only a number that is all there is may have no unit.
        guard
            var seconds = first.unit.isEmpty && text.isEmpty
                ? first.number : factors[first.unit].map({ first.number * $0 })
        else { return nil }
        while !text.isEmpty {
            guard let next = text.removeQuantity(), let factor = factors[next.unit] else { return nil }
            seconds += next.number * factor
        }
        guard seconds < 1e9 else { return nil }
        interval = .seconds(seconds)
    }

    var defaultValueDescription: String {
        let milliseconds = interval.nanoseconds / 1_000_000
        if milliseconds % 1_000 != 0 { return "\(milliseconds)ms" }
        let seconds = milliseconds / 1_000
        return seconds % 3600 == 0 && seconds > 0 ? "\(seconds / 3600)h" : "\(seconds)s"
    }
}

extension Substring {
    /// Removes a number and its unit, which may be empty, with the blanks around them; nil if there is no number.
    fileprivate mutating func removeQuantity() -> (number: Double, unit: String)? {
        func isDigit(_ character: Character) -> Bool {
            character.isASCII && (character.isNumber || character == ".")
        }
        func removed(while isPart: (Character) -> Bool) -> Substring {
            let part = prefix(while: isPart)
            self = dropFirst(part.count)
            return part
        }
        let digits = removed(while: isDigit)
        guard let number = Double(digits) else { return nil }
        _ = removed { $0 == " " }
        let unit = removed { !isDigit($0) && $0 != " " }
        _ = removed { $0 == " " }
        return (number, String(unit))
    }
}

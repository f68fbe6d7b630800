import ArgumentParser
import Streams

/// A count of bytes, as in `65536`, `64KiB` or `4 MiB`.
struct ByteAmount: ExpressibleByArgument {
    let bytes: Int

    init(bytes: Int) {
        self.bytes = bytes
    }

    init?(argument: String) {
        let units = [
            "": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 1_000, "MB": 1_000_000,
            "GB": 1_000_000_000,
        ]
        let digits = argument.prefix { $0.isASCII && $0.isNumber }
        guard let number = Int(digits), let factor = units[argument.dropFirst(digits.count).filter { $0 != " " }],
            number <= (1 << 40) / factor
        else { return nil }
        bytes = number * factor
    }

    var defaultValueDescription: String {
        for (factor, unit) in [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        where bytes > 0 && bytes % factor == 0 {
            return "\(bytes / factor)\(unit)"
        }
        return "\(bytes)"
    }
}

/// A length of time, as in `500ms`, `90s`, `5min` or `1h`; a number alone is in seconds, and `0` means none.
struct TimeAmount: ExpressibleByArgument {
    let interval: Interval

    init(seconds: Double) {
        interval = .seconds(seconds)
    }

    init?(argument: String) {
        let units = ["": 1, "ms": 0.001, "s": 1, "min": 60, "h": 3600, "d": 86_400]
        let digits = argument.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = argument.dropFirst(digits.count).filter { $0 != " " }
        guard let number = Double(digits), let factor = units[unit], number * factor < 1e9
        else { return nil }
        interval = .seconds(number * factor)
    }

    var defaultValueDescription: String {
        let milliseconds = interval.nanoseconds / 1_000_000
        if milliseconds % 1_000 != 0 { return "\(milliseconds)ms" }
        let seconds = milliseconds / 1_000
        return seconds % 3600 == 0 && seconds > 0 ? "\(seconds / 3600)h" : "\(seconds)s"
    }
}

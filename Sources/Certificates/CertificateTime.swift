import Streams

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An instant as certificates have them: whole seconds, up to the year 9999, which `Timestamp` does not reach.
package struct CertificateTime: Hashable, Comparable, Sendable {
    /// Seconds since 1970-01-01T00:00:00Z.
    package var seconds: Int64

    /// An instant from seconds since 1970-01-01T00:00:00Z.
    package init(seconds: Int64) {
        self.seconds = seconds
    }

    /// The second that contains an instant.
    package init(_ instant: Timestamp) {
        seconds = instant.nanoseconds.dividedRoundingDown(by: 1_000_000_000)
    }

    init(_ date: Date) {
        seconds = Int64(date.timeIntervalSince1970.rounded())
    }

    var date: Date { Date(timeIntervalSince1970: Double(seconds)) }

    /// Earlier than.
    package static func < (left: CertificateTime, right: CertificateTime) -> Bool { left.seconds < right.seconds }

    /// The same time of day, this many days later (earlier if negative).
    package func adding(days: Int64) -> CertificateTime { CertificateTime(seconds: seconds + days * 86_400) }
}

extension CertificateTime: CustomStringConvertible {
    /// RFC 3339 in UTC, such as `2036-11-20T10:31:13Z`.
    package var description: String {
        let day = seconds.dividedRoundingDown(by: 86_400)
        let time = seconds - day * 86_400
        let (year, month, number) = Calendar.date(ofDay: day)
        let clock = [time / 3_600, time / 60 % 60, time % 60].map { Self.padded($0, 2) }.joined(separator: ":")
        return "\(Self.padded(year, 4))-\(Self.padded(month, 2))-\(Self.padded(number, 2))T\(clock)Z"
    }

    private static func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}

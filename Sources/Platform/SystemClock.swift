/// The machine's time of day. Sources and the command line read it; decoding code receives times as arguments.
package enum SystemClock {
    /// Nanoseconds since 1970, in UTC (POSIX `CLOCK_REALTIME`).
    package static func nanoseconds() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

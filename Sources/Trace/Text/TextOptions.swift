import Streams

/// How a trace is written as text.
package struct TextOptions: Sendable {
    /// What the first column shows.
    package enum Times: String, Sendable, CaseIterable {
        /// Time of day, UTC.
        case utc
        /// Local time of day.
        case local
        /// Date and time of day, UTC.
        case date
        /// Seconds since the trace's first event.
        case relative
        /// Seconds since the line before.
        case delta
    }

    /// What the first column shows.
    package var times = Times.utc
    /// How far local time is ahead of UTC at an instant, in seconds.
    package var utcOffset: @Sendable (Timestamp) -> Int = { _ in 0 }
    /// Whether lines are coloured.
    package var isColored = false
    /// Whether fields and a hex dump follow each frame.
    package var isVerbose = false
    /// How many bytes of a body the dump shows.
    package var bodyLimit = 4_096
    /// How many columns a line may take; nil if unlimited.
    package var columns: Int?

    /// At most how many bytes of a decoded body are shown.
    var longestBody: Int { max(BodyPreview.mostBytes, isVerbose ? bodyLimit : 0) }

    /// Plain text in UTC.
    package init() {}
}

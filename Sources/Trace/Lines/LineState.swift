import Streams

/// What a human-readable line takes over from the lines before it: the widths of columns, times, the date.
struct LineState {
    /// The widest each column has been, in columns of the terminal, up to a limit.
    struct Columns {
        var number = 2
        var type = 8
        var parties = 0
        /// How many columns a body has, which never widens.
        static let body = 26
        static let most = (type: 20, parties: 48)
    }

    var columns = Columns()
    /// When the first line's event was, and the newest one's.
    var times: (first: Timestamp, last: Timestamp)?
    /// The newest line's date, and the quarter of an hour for which it is known.
    var day: (quarter: Int64, date: String)?
}

/// The tables: what `docs/tables.md` describes. A column more is one line here, and one where its rows are made.
package enum Table: Int, CaseIterable, Sendable {
    case connections
    case frames
    case findings
    case roundTrips

    /// Its name, and that of its folder.
    package var name: String {
        switch self {
        case .connections: "connections"
        case .frames: "frames"
        case .findings: "findings"
        case .roundTrips: "round_trips"
        }
    }

    /// What a row has, after the connection's key.
    var columns: [TableColumn] {
        switch self {
        case .connections:
            [
                .name("leg"), .text("client"), .name("server"), .text("client_address"), .name("server_address"),
                .time("opened"), .time("closed"), .boolean("handshake"), .boolean("client_guessed"), .name("format"),
                .name("format_by"), .text("tls"), .name("reason"), .name("closed_by"), .text("detail"),
            ] + Self.counts("client") + Self.counts("server")
        case .frames:
            [
                .name("leg"), .name("sender"), .integer("number"), .time("time"), .nanoseconds("started_ns"),
                .integer("stream_offset"), .integer("length"), .integer("missing"), .integer("segments"),
                .boolean("merged"), .name("type"), .boolean("heartbeat"), .text("fields"), .text("body"),
            ]
        case .findings:
            [
                .name("leg"), .name("sender"), .time("time"), .name("kind"), .name("severity"), .text("message"),
                .text("data"),
            ]
        case .roundTrips:
            [
                .name("format"), .name("request"), .name("answer"), .name("asked_by"), .integer("request_number"),
                .integer("answer_number"), .time("time"), .duration("took"),
            ]
        }
    }

    private static func counts(_ side: String) -> [TableColumn] {
        ["bytes", "framed", "unframed", "padding", "missing", "frames"].map { .integer("\(side)_\($0)") }
    }

    /// The columns of its files.
    var stored: [ParquetColumn] { [ParquetColumn(name: "connection", kind: .name)] + columns.flatMap(\.stored) }
}

/// What a row of a table has in one place.
enum TableColumn {
    case boolean(String)
    case integer(String)
    /// Text that is different in most rows, or long.
    case text(String)
    /// One of few texts.
    case name(String)
    /// An instant: a timestamp in microseconds, and one in nanoseconds.
    case time(String)
    /// An instant in nanoseconds since 1970.
    case nanoseconds(String)
    /// A time between two: in nanoseconds, and in seconds.
    case duration(String)

    /// How its values are in a row, without its name.
    enum Form {
        case boolean, integer, text, time, duration
    }

    var form: Form {
        switch self {
        case .boolean: .boolean
        case .integer, .nanoseconds: .integer
        case .text, .name: .text
        case .time: .time
        case .duration: .duration
        }
    }

    /// The columns of the table's files that it becomes.
    var stored: [ParquetColumn] {
        switch self {
        case .boolean(let name): [ParquetColumn(name: name, kind: .boolean)]
        case .integer(let name), .nanoseconds(let name): [ParquetColumn(name: name, kind: .integer)]
        case .text(let name): [ParquetColumn(name: name, kind: .text)]
        case .name(let name): [ParquetColumn(name: name, kind: .name)]
        case .time(let name):
            [ParquetColumn(name: name, kind: .timestamp), ParquetColumn(name: "\(name)_ns", kind: .integer)]
        case .duration(let name):
            [ParquetColumn(name: "\(name)_ns", kind: .integer), ParquetColumn(name: name, kind: .number)]
        }
    }
}

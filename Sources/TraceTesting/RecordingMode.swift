import Foundation

/// Which golden traces are recorded again, as the environment variable FRAMETAP_RECORD says.
enum RecordingMode: String, CaseIterable {
    /// Missing ones.
    case missing
    /// Missing ones, and those that differ.
    case changed
    /// All of them.
    case all
    /// None.
    case never

    /// The requested mode; `missing` if none is requested.
    static func current() throws -> RecordingMode {
        guard let text = ProcessInfo.processInfo.environment["FRAMETAP_RECORD"], !text.isEmpty else { return .missing }
        if let mode = RecordingMode(rawValue: text) { return mode }
        let known = allCases.map(\.rawValue).joined(separator: ", ")
        throw TraceTestingError(description: "FRAMETAP_RECORD is \(text); expected one of \(known)")
    }
}

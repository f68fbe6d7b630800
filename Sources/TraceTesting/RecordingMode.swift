import Foundation

/// Which golden traces are written anew, as the environment's FRAMETAP_RECORD says.
enum RecordingMode: String, CaseIterable {
    /// Those that are not there.
    case missing
    /// Those that are not there, and those that differ.
    case changed
    /// All of them.
    case all
    /// None.
    case never

    /// What is asked for: `missing`, where nothing is.
    static func current() throws -> RecordingMode {
        guard let text = ProcessInfo.processInfo.environment["FRAMETAP_RECORD"], !text.isEmpty else { return .missing }
        if let mode = RecordingMode(rawValue: text) { return mode }
        let known = allCases.map(\.rawValue).joined(separator: ", ")
        throw TraceTestingError(description: "FRAMETAP_RECORD is \(text); expected one of \(known)")
    }
}

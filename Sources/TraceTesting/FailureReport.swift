import Foundation
import Testing

#if canImport(XCTest)
import XCTest
#endif

/// The source location of a test's expectation.
struct TestPlace: Sendable {
    var fileID: String
    var filePath: StaticString
    var line: UInt
    var column: UInt

    /// Resolves a path given by a test: relative to the folder of its file.
    func file(_ path: String) -> URL {
        URL(fileURLWithPath: path, relativeTo: URL(fileURLWithPath: "\(filePath)").deletingLastPathComponent())
            .absoluteURL.standardizedFileURL
    }
}

/// Reports a failure to whichever library runs the test.
enum FailureReport {
    /// Records an issue, with traces attached.
    static func record(_ message: String, attaching traces: [(name: String, text: String)], at place: TestPlace) {
        if Test.current != nil {
            let location = SourceLocation(
                fileID: place.fileID, filePath: "\(place.filePath)", line: Int(place.line), column: Int(place.column))
            for trace in traces { Attachment.record(trace.text, named: trace.name, sourceLocation: location) }
            Issue.record(Comment(rawValue: message), sourceLocation: location)
            return
        }
        #if canImport(XCTest)
        XCTFail(message + kept(traces), file: place.filePath, line: place.line)
        #endif
    }

    /// XCTest supports attachments on Apple's systems only: the traces are stored in files.
    private static func kept(_ traces: [(name: String, text: String)]) -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("frametap-\(UUID())")
        guard (try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)) != nil else {
            return ""
        }
        for trace in traces {
            try? Data(trace.text.utf8).write(to: folder.appendingPathComponent(trace.name))
        }
        return traces.isEmpty ? "" : "\nThe traces are in \(folder.path)"
    }
}

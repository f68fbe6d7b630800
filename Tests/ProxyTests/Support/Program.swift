import Foundation
import TestSupport
import Testing

/// A program that runs alongside the tests; its output goes to files.
final class Program {
    private let process = Process()
    private let input = Pipe()
    private let folder: Folder

    /// The maximum time for anything; only a failure takes that long.
    static let patience: Duration = .seconds(40)

    /// A program's failure.
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    /// Starts a program by its name: one of the system's, or `frametap`, which was built beside the tests.
    init(_ name: String, _ arguments: [String], environment: [String: String] = [:]) throws {
        folder = try Folder()
        process.executableURL = try Self.find(name)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = try folder.create("output")
        process.standardError = try folder.create("errors")
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// The path of a program; without it the test is left out.
    static func find(_ name: String) throws -> URL { try InstalledPrograms.find(name) }

    /// Leaves the test out if one of these programs, which a script runs, is not here.
    static func need(_ names: String...) throws { for name in names { _ = try find(name) } }

    /// Its output so far.
    var output: String { folder.text("output") }
    /// Its standard error output so far.
    var errors: String { folder.text("errors") }
    /// Its process ID.
    var identifier: Int32 { process.processIdentifier }

    /// Sends it a line of input.
    func send(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Sends it bytes of input.
    func send(_ bytes: ArraySlice<UInt8>) throws {
        try input.fileHandleForWriting.write(contentsOf: Data(bytes))
    }

    /// Ends its input.
    func endInput() throws {
        try input.fileHandleForWriting.close()
    }

    /// Sends it a signal.
    func signal(_ number: Int32) {
        kill(process.processIdentifier, number)
    }

    /// Waits until it has printed a whole line that matches; returns the match of the first group.
    func match(_ pattern: Regex<(Substring, Substring)>, inErrors: Bool = false) async throws -> String {
        let deadline = ContinuousClock.now + Self.patience
        while true {
            let isRunning = process.isRunning
            if let match = (inErrors ? errors : output).firstMatch(of: pattern) { return String(match.1) }
            guard isRunning, ContinuousClock.now < deadline else {
                throw Failure(description: "waited for something else than:\n\(output)\n\(errors)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits until it has ended; returns its exit status, negative if a signal ended it.
    func exitStatus() async throws -> Int32 {
        let deadline = ContinuousClock.now + Self.patience
        while process.isRunning {
            guard ContinuousClock.now < deadline else {
                throw Failure(description: "does not end:\n\(output)\n\(errors)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
        process.waitUntilExit()
        return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    }

    /// Runs a program to its end, which must be a success; returns its output.
    static func run(_ name: String, _ arguments: [String]) async throws -> String {
        let program = try Program(name, arguments)
        let status = try await program.exitStatus()
        guard status == 0 else { throw Failure(description: "\(name) ended with \(status):\n\(program.errors)") }
        return program.output
    }
}

/// A folder for a test's files, deleted when it is no longer needed.
final class Folder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appendingPathComponent("frametap-tests-\(UUID())")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit {
        try? FileManager.default.removeItem(at: url)
    }

    /// The path of a file in it.
    func path(_ name: String) -> String { url.appendingPathComponent(name).path }

    /// Creates a file, and opens it.
    func create(_ name: String) throws -> FileHandle {
        _ = FileManager.default.createFile(atPath: path(name), contents: nil)
        return try FileHandle(forWritingTo: url.appendingPathComponent(name))
    }

    /// Writes a file; returns its path.
    func write(_ bytes: [UInt8], to name: String) throws -> String {
        try Data(bytes).write(to: url.appendingPathComponent(name))
        return path(name)
    }

    /// The bytes of a file; none if there is no such file.
    func bytes(_ name: String) -> [UInt8] {
        (try? Data(contentsOf: url.appendingPathComponent(name))).map { Array($0) } ?? []
    }

    /// The text of a file.
    func text(_ name: String) -> String { String(decoding: bytes(name), as: UTF8.self) }
}

import Foundation
import Synchronization
import TestSupport
import Testing

/// A small server beside the tests that makes one error in its receive loop.
final class PlantedServer {
    let port: Int
    private let process = Process()

    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("Servers")

    /// Starts `Servers/NAME`, with its error.
    init(_ name: String, _ bug: String) throws {
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        let source = Self.folder.appendingPathComponent(name)
        if name.hasSuffix(".py") {
            process.executableURL = try InstalledPrograms.find("python3")
            process.arguments = [source.path, bug]
        } else {
            process.executableURL = try Self.built(source)
            process.arguments = [bug]
        }
        try process.run()
        var line = Data()
        while line.last != UInt8(ascii: "\n") {
            let byte = output.fileHandleForReading.readData(ofLength: 1)
            if byte.isEmpty { break }
            line += byte
        }
        let text = String(decoding: line, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        port = try #require(Int(text), "\(name) printed no port")
    }

    deinit { kill(process.processIdentifier, SIGKILL) }

    /// Compiles a server, once for all tests.
    private static func built(_ source: URL) throws -> URL {
        try building.withLock { built in
            if let known = built[source.path] { return known }
            let target = FileManager.default.temporaryDirectory
                .appendingPathComponent(
                    "frametap-\(source.lastPathComponent)-\(ProcessInfo.processInfo.processIdentifier)")
            let compiler = Process()
            let isC = source.pathExtension == "c"
            compiler.executableURL = try InstalledPrograms.find(isC ? "clang" : "swiftc")
            compiler.arguments = (isC ? ["-O1", "-pthread"] : ["-Onone"]) + ["-o", target.path, source.path]
            try compiler.run()
            compiler.waitUntilExit()
            try #require(compiler.terminationStatus == 0, "\(source.lastPathComponent) does not compile")
            built[source.path] = target
            return target
        }
    }

    private static let building = Mutex<[String: URL]>([:])
}

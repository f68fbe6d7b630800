import Foundation
import Testing

/// Programs that tests run: those of this machine, and `frametap`, which was built beside the tests.
///
/// A test whose program is not here is left out, which it says. With `FRAMETAP_ALL` in the environment it fails instead:
/// `scripts/test --all` has installed them all.
package enum InstalledPrograms {
    /// Something that a test needs is not here.
    package struct Missing: Error, CustomStringConvertible {
        package var description: String
    }

    /// Folders of programs that are not on everybody's PATH: root's, and those of PostgreSQL's server.
    private static let more: [String] = {
        let versions = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"].flatMap { folder in
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            return names.sorted().reversed().filter { $0.first?.isNumber == true || $0.hasPrefix("postgresql") }
                .map { "\(folder)/\($0)/bin" }
        }
        return ["/usr/sbin", "/sbin"] + versions
    }()

    /// Where a program is, under whichever of its names; without it the test is left out.
    package static func find(_ names: String...) throws -> URL {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let system = path.split(separator: ":").map(String.init) + more
        for name in names {
            let own = name == "frametap" ? Bundle.main.executableURL?.deletingLastPathComponent().path : nil
            let paths = name.hasPrefix("/") ? [name] : (own.map { [$0] } ?? system).map { "\($0)/\(name)" }
            if let path = paths.first(where: FileManager.default.isExecutableFile) { return URL(fileURLWithPath: path) }
        }
        // What is tested is never left out.
        if names.contains("frametap") { throw Missing(description: "frametap was not built") }
        try leaveOut(needing: names.joined(separator: " or "))
    }

    /// Leaves the current test out, or its current case, and says so in a line that `scripts/test` reads.
    package static func leaveOut(needing what: String) throws -> Never {
        guard let test = Test.current, ProcessInfo.processInfo.environment["FRAMETAP_ALL"] == nil else {
            throw Missing(description: "\(what) is not here; scripts/test --all installs what tests need")
        }
        FileHandle.standardError.write(Data("➜ \(test.id) needs \(what): left out\n".utf8))
        let place = SourceLocation(fileID: #fileID, filePath: #filePath, line: #line, column: #column)
        try Test.cancel("needs \(what)", sourceLocation: place)
    }
}

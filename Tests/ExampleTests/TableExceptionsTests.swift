import Foundation
import Testing

/// `frametap tables --except`: the connections that a file names are left out.
@Suite struct TableExceptionsTests {
    private let example = Example(name: "redis")

    /// Runs it with a file of exceptions, in a new folder.
    private func tables(_ exceptions: String) throws -> Program.Result {
        let folder = ShardCommandTests.Folder()
        let file = try TemporaryFile(Array(exceptions.utf8), name: "exceptions")
        return try withExtendedLifetime((folder, file)) {
            try Program.run(
                "frametap",
                [
                    "tables", example.capturePath, "--format", example.formatPath, "--output", folder.path, "--except",
                    file.path, "--final-before", "2000-01-01T00:00:00Z",
                ])
        }
    }

    private func connections(_ result: Program.Result) -> [String] {
        result.text.matches(of: /"live":"([^"]+)"/).map { String($0.output.1) }
    }

    @Test func linesMayHaveEitherOrderAndAnyEnd() throws {
        let all = try connections(tables(""))
        #expect(all.count > 2)
        let (first, second) = (try #require(all.first), try #require(all.dropFirst().first))
        let reversed = second.split(separator: "-").reversed().joined(separator: "-")
        let result = try tables("\(first)\r\n\n \(reversed) \r\n")
        #expect(result.status == 0 && connections(result) == Array(all.dropFirst(2)), "\(result.errors)")
    }

    @Test func aLineThatCannotBeReadIsReported() throws {
        let result = try tables("10.0.0.1:1-10.0.0.2:2\n\n10.0.0.1-10.0.0.2\n")
        #expect(result.status == 2 && result.text == "", "\(result)")
        #expect(result.errors.contains(":3: found 10.0.0.1-10.0.0.2; expected two addresses with ports"))
    }
}

import TestSupport
import Testing

/// Options that select frames, as a shell sees them.
@Suite struct SelectionTests {
    private static let redis = "\(Example.root)/fixtures/examples/redis.pcap"

    /// The lines of frames, with these options.
    private func frames(_ options: [String]) throws -> [TraceLine] {
        let arguments = ["decode", Self.redis, "--format", "example:redis", "--as", "ndjson"] + options
        return try traceLines(Program.output("frametap", arguments).text).filter { $0.event == "frame" }
    }

    @Test func conditionsAskForTheConnectionAndTheTime() throws {
        let all = try frames([])
        let second = all.filter { $0.connection == 2 }
        #expect(!second.isEmpty && second.count < all.count)
        #expect(try frames(["--filter", "connection == 2"]).map(\.text) == second.map(\.text))
        #expect(try frames(["--filter", "connection != 2"]).count == all.count - second.count)
        let times = all.compactMap { $0["time"] }.sorted()
        let middle = try #require(times.dropFirst(times.count / 2).first).dropLast()
        let later = all.filter { ($0["time"] ?? "").dropLast() >= middle }
        #expect(try frames(["--filter", "time >= \"\(middle)\""]).map(\.text) == later.map(\.text))
        #expect(try frames(["--filter", "connection.server endsWith \":6379\""]).count == all.count)
        #expect(try frames(["--filter", "connection.client endsWith \":6379\""]).isEmpty)
        let wrong = try Program.run("frametap", ["decode", Self.redis, "--filter", "connection.serve exists"])
        #expect(wrong.status == 64 && wrong.errors.contains("did you mean server?"), "\(wrong.errors)")
    }

    /// Each filter narrows down what the others leave, whatever operators they have.
    @Test func allFiltersMustMatch() throws {
        let filters = ["from == server", "connection == 1 or connection == 2"]
        let both = try frames(["--filter", filters.map { "(\($0))" }.joined(separator: " and ")]).map(\.text)
        for order in [filters, filters.reversed()] {
            #expect(try frames(order.flatMap { ["--filter", $0] }).map(\.text) == both)
        }
        for filter in filters { #expect(try frames(["--filter", filter]).count > both.count, "\(filter)") }
        let wrong = try Program.run(
            "frametap", ["decode", Self.redis, "--filter", "length >", "--filter", "from == client"])
        #expect(wrong.status == 64 && wrong.errors.contains("--filter: column 9: expected"), "\(wrong.errors)")
    }

    @Test func grepFindsTextAndBytes() throws {
        let all = try frames([])
        let found = all.filter { $0.text.lowercased().contains("counter") }
        let text = try frames(["--grep", "counter"])
        #expect(!text.isEmpty && text.count <= found.count && text.count < all.count)
        #expect(try frames(["--grep", "0x636f756e746572"]).map(\.text) == text.map(\.text))
        #expect(try frames(["--grep", "no frame has this"]).isEmpty)
        for wrong in ["", "0x", "0x1", "0xzz"] {
            let result = try Program.run("frametap", ["decode", Self.redis, "--grep", wrong])
            #expect(result.status == 64 && result.errors.contains("--grep is"), "\(wrong): \(result.errors)")
        }
    }

    @Test func aSecretIsNotFound() throws {
        let capture = "\(Example.root)/fixtures/examples/smtp.pcap"
        func found(_ options: [String]) throws -> Int {
            let options =
                ["decode", capture, "--format", "example:smtp", "--as", "ndjson", "--grep", "c2VzYW1l"] + options
            return try traceLines(Program.output("frametap", options).text).count { $0.event == "frame" }
        }
        #expect(try found([]) == 0)
        #expect(try found(["--show-secrets"]) > 0)
    }

    @Test func aMisspeltCommandIsNamed() throws {
        let result = try Program.run("frametap", ["decod", "chat.pcap"])
        #expect(result.status == 64)
        #expect(result.errors.contains("there is no command decod; did you mean decode?"), "\(result.errors)")
        let file = try Program.run("frametap", [Self.redis])
        #expect(file.errors.contains("To read a file: frametap decode \(Self.redis)"), "\(file.errors)")
    }

    @Test(arguments: [
        (["nix"], "there is no command nix; known are demo, "),
        (["formats", "shwo"], "there is no command shwo; did you mean show?"),
    ])
    func helpNamesAMisspeltCommand(words: [String], advice: String) throws {
        let result = try Program.run("frametap", ["help"] + words)
        #expect(result.status == 64 && result.text.isEmpty)
        #expect(result.errors.contains(advice), "\(result.errors)")
    }

    @Test(arguments: [[], ["help"], ["decode"], ["formats", "show"]]) func helpKnowsItsCommands(words: [String]) throws
    {
        let result = try Program.run("frametap", ["help"] + words)
        #expect(result.status == 0 && result.text.contains("USAGE: "), "\(result.errors)")
    }

    @Test func theDoctorReports() throws {
        let result = try Program.run("frametap", ["doctor"])
        #expect(result.status == 0)
        for name in ["formats", "capture", "CA", "trust", "browser", "files"] {
            #expect(result.text.contains("  \(name) "), "\(name): \(result.text)")
        }
    }
}

import Foundation
import Testing

/// A capture that is still being written, on standard input.
@Suite struct FollowingTests {
    static let path = URL(filePath: #filePath).appending(path: "../../../fixtures/im-json/chat.pcap").standardized.path

    /// Results available so far are shown before more data arrives.
    @Test(arguments: [
        (["decode", "--as", "ndjson"], #"("event":"frame")"#), (["decode"], "(#1 →  heart)"),
        (["packets"], #"("number":20,)"#), (["streams"], #"("connection":1,)"#),
    ])
    func itIsFollowed(_ arguments: [String], _ sign: String) async throws {
        let capture = Array(try Data(contentsOf: URL(filePath: Self.path)))
        let pattern = try Regex(sign, as: (Substring, Substring).self)
        let whole = try await Program.run("frametap", arguments + [Self.path])
        let program = try Program("frametap", arguments + ["-"])
        // All but the end of the last packet, in pieces that end anywhere.
        var rest = capture.dropLast(5)
        var size = 1
        while !rest.isEmpty {
            try program.send(rest.prefix(size))
            rest = rest.dropFirst(size)
            size = size * 7 % 1_009 + 1
        }
        #expect(try await program.match(pattern) != "")
        #expect(program.errors == "")
        try program.send(capture.suffix(5))
        try program.endInput()
        #expect(try await program.exitStatus() == 0)
        func comparable(_ text: String) -> [Substring] {
            text.split(separator: "\n").filter { !$0.contains(#""source""#) }
        }
        #expect(comparable(program.output) == comparable(whole))
    }

    /// The first INT or TERM ends it cleanly: data read so far is counted and reported, and the exit is not a failure.
    @Test(arguments: [
        (["decode"], SIGINT, "end-of-input", "2 connections"),
        (["decode", "--as", "ndjson"], SIGTERM, "end-of-input", "summary"),
        (["report"], SIGINT, "#2", "2 connections"), (["streams"], SIGTERM, "end-of-input", "\"connection\":2"),
        (["packets"], SIGINT, "\"number\":20,", "\"number\":1,"),
    ])
    func aSignalEndsItInOrder(_ arguments: [String], _ signal: Int32, _ sign: String, _ other: String) async throws {
        let capture = Array(try Data(contentsOf: URL(filePath: Self.path)))
        let program = try Program("frametap", arguments + ["-"])
        // More than a pipe holds: once it is sent, reading has begun. It ends in the middle of a packet, before the connections
        // do.
        try program.send(capture.prefix(200_000))
        program.signal(signal)
        #expect(try await program.exitStatus() == 0)
        #expect(program.errors == "")
        #expect(program.output.contains(sign) && program.output.contains(other), "\(program.output.suffix(400))")
    }
}

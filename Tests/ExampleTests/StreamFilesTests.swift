import Foundation
import Streams
import TestSupport
import Testing

@testable import frametap

/// Files of streams: whatever is gathered before it is written, each has the bytes of its direction, in order.
@Suite struct StreamFilesTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "streams-\(UUID())")

    private func contents(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    /// A few long streams and many short ones, which end at random; some lack bytes.
    @Test(arguments: [false, true]) func eachFileHasItsBytes(fillsMissing: Bool) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = try StreamFiles(in: folder.path, fillsMissing: fillsMissing)
        var expected: [String: [UInt8]] = [:]
        func name(_ connection: Int, _ direction: Direction) -> String {
            String("0000\(connection)".suffix(max(4, "\(connection)".count))) + "-\(direction.sender).bin"
        }
        func add(_ count: Int, _ connection: Int, _ direction: Direction) {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            expected[name(connection, direction), default: []] += bytes
            files.write(bytes.span.bytes, of: ConnectionLeg(connection, nil), direction)
        }
        for step in 0..<24_000 {
            let direction = Bool.random(using: &generator) ? Direction.fromClient : .fromServer
            if step % 7 == 0 {
                let connection = Int.random(in: 1...4, using: &generator)
                add(Int.random(in: 1...1_500, using: &generator), connection, direction)
                guard Int.random(in: 0..<200, using: &generator) == 0 else { continue }
                files.missing(1_000, of: ConnectionLeg(connection, nil), direction)
                if fillsMissing {
                    expected[name(connection, direction), default: []] += [UInt8](repeating: 0, count: 1_000)
                }
            } else {
                add(1, 5 + step, direction)
                if Int.random(in: 0..<8, using: &generator) == 0 { files.finish(ConnectionLeg(5 + step, nil)) }
            }
        }
        func check(_ names: some Sequence<String>) throws {
            for name in names { #expect(try contents(name) == expected[name], "seed \(seed), \(name)") }
        }
        for connection in 1...4 {
            files.finish(ConnectionLeg(connection, nil))
            try check(Direction.allCases.map { name(connection, $0) })
        }
        files.flush()
        #expect(!files.hasFailed)
        try check(expected.keys)
    }

    /// A connection that is over has both files, and they are those of this listing.
    @Test func filesOfAnEarlierListingAreReplaced() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let connection = ConnectionLeg(1, nil)
        for text in ["longer than", "that"] {
            let files = try StreamFiles(in: folder.path, fillsMissing: false)
            files.write(Array(text.utf8).span.bytes, of: connection, .fromServer)
            files.finish(connection)
        }
        #expect(try contents("0001-server.bin") == Array("that".utf8))
        #expect(try contents("0001-client.bin") == [])
    }

    /// Of one file that cannot be written, the others have what came before.
    @Test func otherFilesHaveWhatCameBefore() throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let files = try StreamFiles(in: folder.path, fillsMissing: true)
        try FileManager.default.createDirectory(
            at: folder.appending(path: "0002-client.bin"), withIntermediateDirectories: false)
        for number in 1...3 {
            files.write(Array("before".utf8).span.bytes, of: ConnectionLeg(number, nil), .fromClient)
        }
        files.finish(ConnectionLeg(2, nil))
        #expect(files.hasFailed)
        files.write(Array("after".utf8).span.bytes, of: ConnectionLeg(3, nil), .fromClient)
        files.missing(9, of: ConnectionLeg(3, nil), .fromClient)
        files.finish(ConnectionLeg(3, nil))
        files.flush()
        for name in ["0001-client.bin", "0003-client.bin"] { #expect(try contents(name) == Array("before".utf8)) }
    }

    /// The first failure is reported, and the rest is left out.
    @Test func aFolderThatCannotBeWritten() throws {
        let files = try StreamFiles(in: folder.path, fillsMissing: false)
        try FileManager.default.removeItem(at: folder)
        files.write([1].span.bytes, of: ConnectionLeg(1, nil), .fromClient)
        #expect(!files.hasFailed)
        files.finish(ConnectionLeg(1, nil))
        #expect(files.hasFailed)
    }
}

import Foundation
import Testing

@testable import frametap

/// Rows that wait in a file are read back, wherever they are in it.
@Suite struct RowFileTests {
    private let folder = ShardCommandTests.Folder()

    @Test func whatIsKeptIsReadInAnyOrder() throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let file = try RowFile(in: folder.path) { Issue.record("\($0)") }
        // It has no name: nothing is left of it.
        #expect(try folder.names().isEmpty)
        let pieces = (0..<20).map { [UInt8](repeating: UInt8($0), count: 1 + 997 * $0) }
        let places = pieces.map { file.append($0) }
        for (piece, place) in zip(pieces, places).reversed() { #expect(file.read(place) == piece) }
        #expect(file.read(places[3].lowerBound..<places[4].upperBound) == pieces[3] + pieces[4])
    }

    @Test func whatIsNotThereIsReported() throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        var messages: [String] = []
        let file = try RowFile(in: folder.path) { messages.append($0) }
        _ = file.append([1, 2, 3])
        #expect(file.read(0..<4) == [] && messages.count == 1 && messages[0].contains("cannot read"))
        #expect(file.read(0..<3) == [])
    }
}

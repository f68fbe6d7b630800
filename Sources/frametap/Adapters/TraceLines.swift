import Streams
import Trace
import TraceDiff

/// Finds frames in a file of NDJSON by reading it again: annotations need lines, and nothing else does.
enum TraceLines {
    /// The numbers, from 1, of the lines of these frames; those that are not found have none.
    static func find(_ wanted: Set<DiffGitHub.Place>, in path: String) -> [DiffGitHub.Place: Int] {
        var found: [DiffGitHub.Place: Int] = [:]
        guard !wanted.isEmpty, let input = try? FileInput(path) else { return [:] }
        defer { input.closeFile() }
        var line: [UInt8] = []
        var number = 0
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        func end() {
            number += 1
            if case .frame(let frame)? = try? EventReader.event(of: line) {
                let place = DiffGitHub.Place(
                    connection: ConnectionLeg(frame.connection, frame.leg), from: frame.from, index: frame.index)
                if wanted.contains(place), found[place] == nil { found[place] = number }
            }
            line.removeAll(keepingCapacity: true)
        }
        while found.count < wanted.count, let count = try? chunk.withUnsafeMutableBytes({ try input.read(into: $0) }),
            count > 0
        {
            for byte in chunk[..<count] {
                if byte == UInt8(ascii: "\n") { end() } else { line.append(byte) }
            }
        }
        if !line.isEmpty { end() }
        return found
    }
}

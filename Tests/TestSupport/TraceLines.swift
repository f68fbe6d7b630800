import Foundation

/// One line of an NDJSON trace: its text and its contents.
package struct TraceLine: Hashable, Sendable {
    /// The line itself.
    package let text: String
    /// The kind of event.
    package let event: String
    /// The connection's number, 0 if there is none.
    package let connection: Int
    /// The sender of the bytes, empty if there is none.
    package let from: String
    private let values: [String: String]
    private let numbers: [String: Int]

    /// Reads a line.
    package init(_ text: Substring) throws {
        self.text = String(text)
        let object = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any] ?? [:]
        event = object["event"] as? String ?? ""
        connection = object["connection"] as? Int ?? 0
        from = object["from"] as? String ?? ""
        values = object.compactMapValues { $0 as? String }
        numbers = object.compactMapValues { $0 as? Int }
    }

    /// A text at a key.
    package subscript(_ key: String) -> String? { values[key] }

    /// A number at a key.
    package subscript(number key: String) -> Int? { numbers[key] }

    /// A number inside the object at a key.
    package func number(_ key: String, of object: String) -> Int? {
        let all = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return (all?[object] as? [String: Any])?[key] as? Int
    }

    /// A text inside the object at a key.
    package func text(of object: String, _ key: String) -> String? {
        let all = try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
        return (all?[object] as? [String: Any])?[key] as? String
    }

    /// The line without anything that may depend on segmentation: `segments`, `merged`, times, and packet numbers.
    package var withoutCutting: String {
        text.replacing(#/"segments":\d+,"merged":(true|false),/#, with: "")
            .replacing(#/"(time|started)":"[^"]*",/#, with: "")
            .replacing(#/,"(packet|[a-z]+Packet)":\d+/#, with: "")
    }
}

/// The lines of an NDJSON trace.
package func traceLines(_ text: String) throws -> [TraceLine] {
    try text.split(separator: "\n").map { try TraceLine($0) }
}

/// The parts that must be the same live and offline (`docs/trace.md`): by connection and direction, the lines that must be equal
/// byte for byte, in order, and the findings as a set.
package struct ComparableTrace: Hashable {
    /// A connection, a direction (empty for `closed`), and a leg (empty if there is only one).
    package struct Key: Hashable, Comparable, CustomStringConvertible {
        let connection: Int
        let from: String
        let leg: String

        package static func < (left: Key, right: Key) -> Bool {
            (left.connection, left.from, left.leg) < (right.connection, right.from, right.leg)
        }

        package var description: String { "#\(connection) \(from) \(leg)" }
    }

    /// The lines.
    package var lines: [Key: [String]] = [:]
    /// The findings.
    package var findings: Set<String> = []

    /// The parts of a trace that are compared.
    package init(_ trace: [TraceLine]) {
        for line in trace {
            switch line.event {
            case "frame", "missing", "unframed", "closed":
                let key = Key(connection: line.connection, from: line.from, leg: line["leg"] ?? "")
                lines[key, default: []].append(line.text)
            case "finding": findings.insert(line.text)
            default: break
            }
        }
    }

    /// The parts of a trace that are compared, with the connections counted from 1 as they are opened in it: numbers may be left
    /// out of a live trace, and a connection that was missed at first comes later.
    package init(renumbering trace: [TraceLine]) throws {
        var ranks: [Int: Int] = [0: 0]
        for line in trace where ranks[line.connection] == nil { ranks[line.connection] = ranks.count }
        self.init(
            try trace.map { line in
                // Its own number, and those that a finding names.
                let text = line.text.replacing(#/onnection":(?<number>\d+)/#) { match in
                    "onnection\":\(Int(match.number).flatMap { ranks[$0] } ?? -1)"
                }
                return try TraceLine(text[...])
            })
    }

    /// Everything except how the connections ended.
    package var withoutClosed: ComparableTrace {
        var rest = self
        rest.lines = lines.filter { !$0.key.from.isEmpty }
        return rest
    }

    /// The differences from another trace, in words: the first few lines that differ.
    package func differences(to other: ComparableTrace) -> [String] {
        var differences: [String] = []
        for key in Set(lines.keys).union(other.lines.keys).sorted() {
            let (left, right) = (lines[key] ?? [], other.lines[key] ?? [])
            for index in 0..<max(left.count, right.count) {
                let pair = (index < left.count ? left[index] : "-", index < right.count ? right[index] : "-")
                if pair.0 != pair.1 {
                    differences.append("\(key) line \(index):\n  \(pair.0.prefix(400))\n  \(pair.1.prefix(400))")
                    break
                }
            }
        }
        differences += findings.subtracting(other.findings).map { "only in the first: \($0)" }
        differences += other.findings.subtracting(findings).map { "only in the second: \($0)" }
        return Array(differences.prefix(4))
    }
}

import Streams

/// The places in traces that show a secret's bytes if these, or those around them, did not fit the format: what is left of an item
/// with a size, bytes inside that belong to no frame, a body inside that could not be read.
struct SecretLeftovers {
    /// Whether headers are structures.
    private let hasStructures: Bool
    /// Whether bytes may be left of an unnamed part of one.
    private let mayHaveRest: Bool
    /// Whether bodies are structures, or frames of another format.
    private let hasStructuredBodies: Bool

    /// The places in a side's frames.
    init(_ side: DirectionFormat) {
        let heads = side.layouts.compactMap { ($0.head as? StructuredHead)?.structure }
        hasStructures = !heads.isEmpty
        mayHaveRest = heads.contains(where: \.mayHaveRest)
        hasStructuredBodies = side.bodies.flatMap(\.chains).contains {
            $0.encodings.last is FieldsBody || $0.encodings.last is FormatBody
        }
    }

    /// The places of a secret's bytes.
    ///
    /// - Parameter secret: its path, with `fields` or `body` in front.
    /// - Returns: paths without that.
    func paths(around secret: [String]) -> [[String]] {
        let path = Array(secret.dropFirst())
        if secret[0] == "body" { return hasStructuredBodies ? Self.paths(around: path, from: 0) : [] }
        guard hasStructures else { return [] }
        return Self.paths(around: path, from: 1) + (mayHaveRest ? [[StructureWalk.rest]] : [])
    }

    /// The names of bytes as they came, in whatever is around a value.
    private static let names = [StructureWalk.rest, StructuredHead.raw, FormatBody.unframed]

    /// - Parameter least: how many components a container's path has at least.
    private static func paths(around path: [String], from least: Int) -> [[String]] {
        var found: [[String]] = []
        for count in path.indices where count >= least && !StructureNames.isElement(path[count]) {
            var names = Self.names.map { [$0] }
            // The body of a frame inside another one's: text or bytes if it was not decoded.
            if path[count] == "body", count + 1 < path.count { names += [["body", "text"], ["body", "hex"]] }
            let container = Array(path.prefix(count))
            // Where bytes do not fit, the secret may be in any element.
            let elements = container.filter { !StructureNames.isElement($0) }
            for name in names {
                found.append(container + name)
                if elements != container { found.append(elements + name) }
            }
        }
        return found
    }
}

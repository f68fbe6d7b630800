import Expressions
import Streams
import YAML

/// Reads a structure: the header of the rule `fields`, the body encoding `fields`, and `types`.
///
///     - "*"                                      constant bytes
///     - count: u16                               a field, as in other headers
///     - key: { type: string, size: u16 }         text after its length; or size: EXPRESSION, size: rest
///     - name: { type: string, ends: "\0" }       text up to its end
///     - id: { type: u16, when: qos > 0 }         if a condition holds
///     - rows: { repeat: count, of: [ … ] }       a list; or repeat: rest, until: "\0", a type such as u16
///     - value: { oneOf: [[ … ], [ … ]] }         the first that fits
///     - value: { use: value }                    one of the file's types
///     - { words: [verb, subject, "reply?"], ends: "\r\n" }
///     - headers: { lines: ":", ends: "\r\n" }
struct StructureLoader {
    let context: LoadContext
    let order: ByteOrder
    /// Names of values that are known from outside: a body's header.
    let outside: Set<String>?

    /// The structure of a list of items, or of one of the file's types; faults are reported.
    ///
    /// - Parameter isBounded: whether its bytes are those of a body, which ends somewhere.
    func structure(_ node: Node, path: String, isBounded: Bool) -> Structure {
        let building = StructureBuilding(context: context, order: order, outside: outside, isBounded: isBounded)
        building.structure.sequences.append(Structure.Sequence())
        if node.isScalar { building.readType(node, path: path) } else { building.read(node, into: 0, path: path) }
        building.complete()
        return building.structure
    }
}

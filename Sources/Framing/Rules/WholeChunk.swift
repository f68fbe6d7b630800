import Expressions
import Streams

/// The rule `chunk`: what one packet or read carries is one frame.
///
/// If a sender's messages are undelimited there is nothing else to go by; the result depends on segmentation by definition. With
/// `repeats`, matches of a pattern at the chunk's beginning are frames of their own.
package struct WholeChunk: FramingRule {
    package static let name = "chunk"

    let repeats: Pattern?

    package let dependsOnCutting = true

    package init(repeats: Pattern?) {
        self.repeats = repeats
    }

    package func scan(
        _ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory
    ) -> FrameScan {
        let rest = bytes.extracting(start..<bytes.byteCount)
        let count = repeats?.prefixLength(in: rest) ?? rest.byteCount
        return .shape(FrameShape(head: 0, body: count > 0 ? count : rest.byteCount))
    }

    package var landmark: Landmark { .anywhere(how: "the beginning of a chunk") }

    package func progress(_ bytes: RawSpan, shape: FrameShape?) -> String { "\(bytes.byteCount) bytes" }
}

extension WholeChunk: LoadableRule {
    static let keys = KeySection.rule(
        name, "the payload of one packet, or of one read of the proxy, is a frame",
        [
            FormatKey(
                "repeats", .text("a pattern"),
                "a regular expression: what matches it at the beginning of a chunk is a frame of its own")
        ])

    static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: BinaryHead?) -> FramingRules.Built? {
        if section.refuseHeader(head, trailer, name) { return nil }
        guard let source = section.text("repeats") else { return (WholeChunk(repeats: nil), nil) }
        do throws(ExpressionError) {
            return (WholeChunk(repeats: try Pattern(parsing: source)), nil)
        } catch {
            section.context.add("repeats: \(error.message)", at: section["repeats"], columns: error.column - 1)
            return nil
        }
    }
}

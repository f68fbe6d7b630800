import Control
import Expressions
import Framing
import Streams
import Trace

/// A condition on frames, as `--filter` takes it.
struct FrameFilter: Sendable {
    let text: String
    private let expression: Expression
    private let condition: FrameCondition
    /// Whether the index has every value that it reads.
    let isOfIndex: Bool
    /// Whether it reads the type, of which the index may have a part only.
    let asksForType: Bool

    private let asksForParties: Bool
    private let asksForBody: Bool

    /// - Throws: what is wrong with it, with the column.
    init(_ text: String) throws(ExpressionError) {
        self.text = text
        expression = try Expression(parsing: text) { FrameValues.complaint(about: $0, inTrace: true) }
        condition = try FrameCondition(text, inTrace: true)
        let indexed: Set<String> = ["type", "from", "length", "index", "heartbeat", "connection", "time"]
        asksForParties = expression.paths.contains { ["source", "target"].contains($0[0]) }
        asksForBody = expression.paths.contains { $0[0] == "body" && $0 != ["body", "length"] }
        asksForType = expression.paths.contains { $0[0] == "type" }
        isOfIndex = expression.paths.allSatisfy { $0.count == 1 && indexed.contains($0[0]) }
    }

    /// Whether it holds, by the index alone.
    func holds(for record: EventRecord, type: String?) -> Bool {
        expression.evaluate(Indexed(record: record, type: type))
    }

    private struct Indexed: FieldSource {
        let record: EventRecord
        let type: String?

        func value(at path: [String]) -> Value {
            switch path[0] {
            case "type": type.map(Value.text) ?? .absent
            case "from": record.from.map { .text($0.sender) } ?? .absent
            case "length": .integer(Int64(record.length))
            case "index": .integer(Int64(record.index))
            case "heartbeat": .boolean(record.isHeartbeat)
            case "connection": .integer(Int64(record.connection))
            case "time": .text(FrameFilter.time(of: record))
            default: .absent
            }
        }
    }

    /// The addresses of a connection's ends.
    typealias Ends = (client: String, server: String)

    private static func time(of record: EventRecord) -> String {
        String(Timestamp(nanoseconds: record.time).rfc3339.dropLast())
    }

    private static func connection(of record: EventRecord, _ ends: Ends) -> FrameValues.ConnectionValues {
        FrameValues.ConnectionValues(number: Int(record.connection), client: ends.client, server: ends.server) {
            Self.time(of: record)
        }
    }

    /// Whether it holds, by the frame's bytes, as `--filter` decides it.
    ///
    /// - Returns: nil if the bytes do not tell: some of them, or all, are not kept.
    func holds(for record: EventRecord, _ detail: FrameDetail, _ format: Format, _ ends: Ends) -> Bool? {
        guard !detail.isHidden, let from = record.from else { return nil }
        var (shape, streamed) = (detail.shape, 0)
        if detail.isTruncated || detail.bytes.count != shape.total {
            // The line has all that is asked for, but for the parties.
            guard asksForParties, !asksForBody, !detail.isTransformed, detail.bytes.count >= shape.head else {
                return nil
            }
            let body = Int(record.length) - shape.head - shape.tail
            shape.body = min(body, detail.bytes.count - shape.head)
            (streamed, shape.tail) = (body - shape.body, 0)
        }
        // Of the frame as it was in the stream, conditions ask for nothing but its length.
        var info = FrameInfo(
            index: Int(record.index), offset: detail.offset, shape: FrameShape(head: 0, body: Int(record.length)),
            started: detail.started, time: Timestamp(nanoseconds: record.time), segments: detail.segments,
            merged: detail.isMerged, position: 1, companions: 1, missing: detail.missing, packet: detail.packet)
        info.setStreamed(streamed, isText: false)
        var values = FrameValues(info: info, direction: from, isHeartbeat: record.isHeartbeat)
        values.connection = Self.connection(of: record, ends)
        let content = detail.bytes.span.bytes.extracting(0..<shape.total)
        return values.fulfil(expression, content: content, shape: shape, format: format.directions[from])
    }

    /// Whether it holds, by the frame's line: what the line does not show, such as a secret, cannot be found out.
    func holds(for record: EventRecord, line: [UInt8], _ ends: Ends) -> Bool {
        guard case .frame(let frame)? = try? EventReader.event(of: line) else { return false }
        return condition.holds(for: frame, on: Self.connection(of: record, ends))
    }
}

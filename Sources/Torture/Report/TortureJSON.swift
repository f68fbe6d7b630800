import Framing
import Streams
import Trace

/// A report as one JSON object.
package enum TortureJSON {
    package static func of(_ report: TortureReport) -> String {
        func number(_ value: Int) -> JSONValue { .number(String(value)) }
        let least = report.least.map { broken in
            JSONValue.object([
                .init("connection", number(broken.connection)), .init("from", .text(broken.from.sender)),
                .init("index", number(broken.index)), .init("type", broken.type.map(JSONValue.text) ?? .null),
                .init("field", .text(broken.field)), .init("offset", number(broken.offset)),
                .init("segmentation", .text(broken.segmentation)), .init("symptom", .text(broken.symptom)),
                .init("text", .text(broken.text)), .init("count", number(broken.count)),
            ])
        }
        let sections = report.sections.map { section in
            JSONValue.object([
                .init("segmentation", .text(section.name)), .init("tried", number(section.tried)),
                .init("proven", number(section.proven)), .init("failed", number(section.failed)),
                .init("uncounted", number(section.uncounted)), .init("leftOut", number(section.leftOut)),
            ])
        }
        return JSONValue.object([
            .init("cuts", number(report.cuts)), .init("proven", number(report.proven)),
            .init("failed", number(report.failed)), .init("least", .array(least)),
            .init("segmentations", .array(sections)), .init("connections", number(report.connections)),
            .init("frames", number(report.frames)), .init("bytes", number(report.bytes)),
            .init("complete", .boolean(report.isComplete)),
            .init("seed", .number(String(report.seed))),
            .init("patience", .number(String(Double(report.patience.nanoseconds) / 1e9))),
            .init("notCompared", .array(report.notCompared.map(JSONValue.text))),
            .init("notes", .array(report.notes.map(JSONValue.text))),
        ]).compactText + "\n"
    }
}

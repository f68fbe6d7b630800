import Foundation
import Streams
import Testing

@testable import Framing

/// What is kept of headers that were read is never taken for another header's.
@Suite struct RecentFieldsTests {
    private func fields(_ value: String) -> [Field] { [Field("value", .text(value))] }

    @Test func headersThatEndAlikeAreToldApart() {
        let recent = RecentFields()
        let (one, other) = (Array("one:same ending".utf8), Array("two:same ending".utf8))
        recent.keep(fields("one"), of: one.span.bytes)
        #expect(recent.fields(of: one.span.bytes) == fields("one"))
        #expect(recent.fields(of: other.span.bytes) == nil)
        recent.keep(fields("two"), of: other.span.bytes)
        #expect(recent.fields(of: other.span.bytes) == fields("two"))
        #expect(recent.fields(of: one.span.bytes) == nil, "one place, so the older is replaced")
    }

    @Test(arguments: [0, 7, 2_049]) func shortAndLongHeadersAreNotKept(count: Int) {
        let recent = RecentFields()
        let head = [UInt8](repeating: 7, count: count)
        recent.keep(fields("x"), of: head.span.bytes)
        #expect(recent.fields(of: head.span.bytes) == nil)
    }

    @Test(arguments: [(16_384, true), (16_385, false)]) func largeValuesAreNotKept(count: Int, isKept: Bool) {
        let recent = RecentFields()
        let head = Array("a short header".utf8)
        let large = [Field("json", .json(String(repeating: "7", count: count)))]
        recent.keep(large, of: head.span.bytes)
        #expect(recent.fields(of: head.span.bytes) == (isKept ? large : nil))
    }

    /// Headers of few values, so that they come again, in any order.
    @Test func fieldsAreThoseOfTheBytes() throws {
        let yaml = """
            format: x
            header: [{ name: { type: string, ends: ":" } }, { list: { repeat: { type: decimal, ends: ";" }, of: [{ n: u16 }] } }]
            framing: { rule: fields }
            """
        let format = try FormatLoader.load(yaml, file: "x.yaml").directions.fromClient
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        for _ in 0..<2_000 {
            let name = ["a", "b", "a longer name"][Int(random.next() % 3)]
            let values = (0..<Int(random.next() % 4)).map { _ in UInt8(random.next() % 2) }
            var bytes = Array("\(name):\(values.count);".utf8)
            for value in values { bytes += [0, value] }
            let shape = FrameShape(head: bytes.count, body: 0)
            #expect(format.field("name", of: bytes.span.bytes, shape) == .text(name), "seed \(seed)")
            let list = values.map { "{\"n\":\($0)}" }.joined(separator: ",")
            let read = format.field("list", of: bytes.span.bytes, shape)
            guard case .json(let text)? = read else {
                Issue.record("\(String(describing: read)), seed \(seed)")
                return
            }
            #expect(
                text == "[\(list)]" || text == "[\(values.map { String($0) }.joined(separator: ","))]", "seed \(seed)")
        }
    }

    @Test func namesThatAreKeptAreThoseOfTheItems() throws {
        for name in ["amqp", "http", "kafka", "redis"] {
            let yaml = try #require(ExampleFormats.yaml(of: name))
            let format = try FormatLoader.load(yaml, file: name)
            for direction in Direction.allCases {
                for case let head as StructuredHead in format.directions[direction].layouts.compactMap(\.head) {
                    var computed = Structure()
                    computed.sequences = head.structure.sequences.map { sequence in
                        var plain = Structure.Sequence(items: sequence.items)
                        plain.only = sequence.only
                        return plain
                    }
                    for index in computed.sequences.indices {
                        #expect(head.structure.names(of: index) == computed.names(of: index), "\(name)")
                        #expect(head.structure.ownNames(of: index) == computed.ownNames(of: index), "\(name)")
                        #expect(head.structure.sequences[index].known != nil, "\(name)")
                    }
                }
            }
        }
    }
}

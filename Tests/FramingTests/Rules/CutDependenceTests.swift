import Streams
import Testing

@testable import Framing

/// Streams that are framed alike however they are cut, although a rule has to come back to where it was.
@Suite struct CutDependenceTests {
    private func rule(_ yaml: String) throws -> any FramingRule {
        try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient.rule
    }

    private func frames(_ bytes: [UInt8], _ yaml: String) throws -> [Int] {
        expectCuttingDoesNotMatter(bytes, rule: try rule(yaml))
        return frame(cut(bytes, at: []), with: try rule(yaml)).log.frames.map(\.length)
    }

    /// What ends a list is not looked for after the bytes of the group that it is in.
    @Test func aListEndsWithItsGroup() throws {
        let yaml = """
            header: [{ size: u8, fields: [{ list: { until: "\\0", of: [{ x: u8 }] } }, "END"] }]
            framing: { rule: fields }
            """
        #expect(try frames([1, 0x41, 0], yaml) == [2, 1])
        #expect(try frames([6, 0x41, 0] + Array("END".utf8) + [9, 0], yaml).first == 7)
        // Nor in part: the last byte of the group is an element.
        let long = yaml.replacing("\"\\\\0\"", with: "\"ab\"")
        #expect(try frames([2, 0x78, 0x61, 0x62, 0, 0], long).first == 3)
    }

    /// A count that is wrong is read again where it was.
    @Test func aCountThatIsWrongIsReadOnce() throws {
        let yaml = """
            header:
              - { size: u8, fields: [{ items: { repeat: i8, of: [{ item: u8 }] } }, { count: u8 }] }
            framing: { rule: fields, body: count }
            """
        #expect(try frames([3, 0xfe, 0, 2, 0x48, 0x69], yaml) == [])
        #expect(try frames([3, 1, 7, 2, 0x48, 0x69], yaml) == [6])
    }

    /// A null list of a size has all its bytes.
    @Test func aNullListMayHaveASize() throws {
        let yaml = """
            header: [{ items: { repeat: i8, size: u16, of: [{ a: u8 }] } }, "X"]
            framing: { rule: fields }
            """
        #expect(try frames([0, 0x10, 0xff], yaml) == [])
        #expect(try frames([0, 3, 0xff, 1, 2, 0x58], yaml) == [6])
    }

    /// The longest one.
    @Test func paddingMayBeginLikeAnother() throws {
        let yaml = """
            header: [{ text: { type: string, ends: "\\n" } }]
            framing: { rule: fields, padding: ["\\r\\n", "\\r"] }
            """
        let other = yaml.replacing("[\"\\r\\n\", \"\\r\"]", with: "[\"\\r\", \"\\r\\n\"]")
        #expect(other != yaml)
        for yaml in [yaml, other] { #expect(try frames(Array("\r\na\n\rb\n\r".utf8), yaml) == [2, 2]) }
    }

    /// They have a limit, whether or not their end is seen at once.
    @Test(arguments: [3_200, 3_300]) func linesAfterTheLastChunkAreBounded(_ count: Int) throws {
        guard let yaml = ExampleFormats.yaml(of: "http") else {
            Issue.record("no example http")
            return
        }
        let rule = try FormatLoader.load(yaml, file: "http").directions.fromServer.rule
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n"
        let bytes = Array((head + String(repeating: "name: of 20 bytes.\r\n", count: count) + "\r\n").utf8)
        var seen: Set<[Framed]> = []
        for places in [[], [40], [60], [70, 30_000], [bytes.count - 1]] {
            let (log, counts) = frame(cut(bytes, at: places), with: rule)
            #expect(counts.bytes == bytes.count)
            seen.insert(log.results)
        }
        #expect(seen.count == 1)
        #expect(seen.first?.count == 1 || count > 3_276, "\(seen.first?.count ?? 0)")
    }

    /// The frame after which another opening frame follows is found once.
    @Test func openingFramesThatFollowOneAnother() throws {
        let yaml = """
            first:
              oneOf:
                - { name: hello, header: [{ length: u32 }, { magic: { type: u8, equals: 7 } }], framing: { rule: length-field, field: length, counts: frame } }
                - { name: no, header: [{ answer: { type: char, equals: N } }], framing: { rule: fixed, size: 1 } }
              again: { field: answer, in: [N] }
            header: [{ kind: u8 }, { size: u8 }]
            framing: { rule: length-field, field: size }
            """
        #expect(try frames([0x4e, 0, 0, 0, 6, 7, 0x21, 5, 1, 9], yaml) == [1, 6, 3])
    }

    /// What the rule of one state has searched in vain, that of another has not.
    @Test func aStateThatDoesNotFitLeavesNothingToAnother() throws {
        let format = try FormatLoader.load(
            """
            format: x
            body: text
            states:
              packed: { framing: { rule: cobs, limit: 64 B } }
              lines: { framing: { rule: delimiter, end: "\\n" } }
            transitions: [{ in: packed, when: from == server, to: lines }]
            """, file: "x.yaml")
        let lines = (0..<10).flatMap { _ in Array("a line of 20 bytes.\n".utf8) }
        let log = FramedLog()
        var framer = format.framers().fromClient
        framer.receive(
            lines.span.bytes, at: Timestamp(nanoseconds: 0), packet: 0, scratch: FramingScratch(), into: log)
        framer.finish(scratch: FramingScratch(), into: log)
        #expect(log.frames.map(\.length) == Array(repeating: 20, count: 10))
    }

    /// A pause ends frames of the kind that ends so, and no others.
    @Test func aPauseWithinAFrameWhoseExtentIsKnown() throws {
        let rule = try rule(
            """
            oneOf:
              - { name: mark, framing: { rule: marker, start: "ab" } }
              - { name: sized, header: [{ length: u16 }], framing: { rule: length-field, field: length } }
            """)
        // Chunks arrive a second after one another.
        let pieces: [Piece] = [
            .bytes([0, 5, 0x68]), .bytes(Array("ello".utf8) + [0, 3] + Array("xyz".utf8) + [0, 9, 0x61]),
        ]
        let log = frame(pieces, with: rule).log
        #expect(log.frames.map(\.length) == [7, 5])
        #expect(log.unframedCounts == [3])
        // A marker's frame ends.
        let marked = frame([.bytes(Array("ab1".utf8)), .bytes([0, 1, 0x41]), .bytes(Array("ab2".utf8))], with: rule).log
        #expect(marked.frames.first?.length == 3 && marked.frames.last?.length == 3)
    }

    /// A number in a packet makes the gap: it is not kept as zeros if it is larger than any frame is by default.
    @Test func aLargeGapTakesNoMemory() throws {
        guard let yaml = ExampleFormats.yaml(of: "http") else {
            Issue.record("no example http")
            return
        }
        let log = FramedLog()
        var framer = try FormatLoader.load(yaml, file: "http").framers().fromServer
        let scratch = FramingScratch()
        func take(_ text: String) {
            framer.receive(
                Array(text.utf8).span.bytes, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: log)
        }
        take("HTTP/1.1 200 OK\r\nContent-Length: 900000000\r\n\r\nx")
        framer.missing(600_000_000, at: Timestamp(nanoseconds: 0), scratch: scratch, into: log)
        #expect(framer.heldMemory < 1 << 20)
        // The place is kept.
        let rest = [UInt8](repeating: 0x78, count: 299_999_999 - 200_000_000)
        framer.missing(200_000_000, at: Timestamp(nanoseconds: 0), scratch: scratch, into: log)
        framer.receive(rest.span.bytes, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: log)
        take("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        framer.finish(scratch: scratch, into: log)
        #expect(log.frames.map(\.shape.body) == [2])
        #expect(framer.counts.missing == 800_000_000 && framer.counts.bytes == 900_000_046 + 40)
    }
}

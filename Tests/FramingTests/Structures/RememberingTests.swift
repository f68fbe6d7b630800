import Streams
import Testing

@testable import Framing

/// Values that frames leave for those after them.
@Suite struct RememberingTests {
    /// Messages in pieces: a header says whose message it is, and the first piece of a message how long it is.
    private static let yaml = """
        format: pieces
        header:
          - first: { type: u8, bits: { 7: begins, 0-6: stream } }
          - size: { type: u16, when: begins == 1 }
          - kind: { type: u8, when: begins == 1 }
        framing:
          rule: fields
          body: [{ when: begins == 1, size: size, most: last.piece }, { size: last.left, most: last.piece }]
          remembers:
            - { name: kind, by: stream, value: kind, when: begins == 1 }
            - { name: message, by: stream, value: last.kind, shown: true, names: { 1: text, 2: setting } }
            - { name: left, by: stream, value: size - body.length, when: begins == 1 }
            - { name: left, by: stream, value: last.left - body.length, when: begins == 0 }
            - { name: piece, first: 4, value: body.fields.piece, when: kind == 2 }
        frame: { type: message }
        body: { cases: [{ when: message == 2, as: { fields: [{ piece: u8 }] } }], else: hex }
        """

    private func format() throws -> Format { try FormatLoader.load(Self.yaml, file: "pieces.yaml") }

    /// What the direction's frames are: type and body.
    private func frames(_ pieces: [Piece], aligned: Bool = true) throws -> [String] {
        let format = try format()
        let log = FramedLog()
        var framers = format.framers(aligned: aligned)
        let scratch = FramingScratch()
        for piece in pieces {
            switch piece {
            case .bytes(let bytes):
                framers.fromClient.receive(
                    bytes.span.bytes, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: log)
            case .gap(let count):
                framers.fromClient.missing(count, at: Timestamp(nanoseconds: 0), scratch: scratch, into: log)
            }
        }
        framers.fromClient.finish(scratch: scratch, into: log)
        return log.results.map { result in
            switch result {
            case .frame(_, _, let shape, _, let bytes):
                let type = format.directions.fromClient.type(of: bytes.span.bytes, shape) ?? "-"
                return "\(type) \(Array(bytes[shape.head...]))"
            case .unframed(_, let bytes, _, _): return "unframed \(bytes.count)"
            case .missing: return "missing"
            }
        }
    }

    /// Messages whose pieces alternate, as bytes; and what their frames are.
    private func conversation(seed: UInt64) -> (bytes: [UInt8], frames: [String]) {
        var generator = SeededGenerator(seed: seed)
        var piece = 4
        var begun: [Int: (kind: UInt8, rest: [UInt8])] = [:]
        var (bytes, frames): ([UInt8], [String]) = ([], [])
        for _ in 0..<120 {
            let stream = Int.random(in: 0...5, using: &generator)
            var head: [UInt8]
            var rest: [UInt8]
            let kind: UInt8
            if let open = begun[stream], !open.rest.isEmpty {
                (kind, rest) = open
                head = [UInt8(stream)]
            } else {
                let sets = Int.random(in: 0..<6, using: &generator) == 0
                kind = sets ? 2 : 1
                rest =
                    sets
                    ? [UInt8.random(in: 1...9, using: &generator)]
                    : (0..<Int.random(in: 0...30, using: &generator)).map { _ in
                        UInt8.random(in: 0...255, using: &generator)
                    }
                head = [0x80 | UInt8(stream), 0, UInt8(rest.count), kind]
            }
            let body = Array(rest.prefix(piece))
            begun[stream] = (kind, Array(rest.dropFirst(piece)))
            bytes += head + body
            frames.append("\(kind == 1 ? "text" : "setting") \(body)")
            if kind == 2, let size = body.first { piece = Int(size) }
        }
        return (bytes, frames)
    }

    @Test(arguments: 0..<10) func piecesAlternate(_ number: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        let (bytes, expected) = conversation(seed: seed)
        #expect(try frames([.bytes(bytes)]) == expected, "seed \(seed)")
        #expect(try frames(cut(bytes, at: Array(1..<bytes.count))) == expected, "seed \(seed), byte by byte")
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let places = (0..<8).map { _ in Int.random(in: 0...bytes.count, using: &generator) }
            #expect(try frames(cut(bytes, at: places)) == expected, "seed \(seed), at \(places)")
        }
    }

    @Test func encodingUndoesDecoding() throws {
        let format = try format()
        let side = format.directions.fromClient
        let (bytes, expected) = conversation(seed: 7)
        let log = FramedLog()
        var framers = format.framers(aligned: true)
        framers.fromClient.receive(
            bytes.span.bytes, at: Timestamp(nanoseconds: 0), packet: 0, scratch: FramingScratch(), into: log)
        #expect(log.frames.count == expected.count)
        var again: [UInt8] = []
        for case .frame(_, _, let shape, _, let bytes) in log.results {
            let fields = side.fields(of: bytes.span.bytes, shape)
            again += try side.encode(fields, body: Array(bytes[shape.head...]))
        }
        #expect(again == bytes)
    }

    /// A gap inside a body changes nothing but the value that the body had; after any other, pieces have lost their message.
    @Test func gaps() throws {
        let begins: [UInt8] = [0x81, 0, 6, 1]
        let inside: [Piece] = [.bytes(begins + [1]), .gap(3), .bytes([0x01, 5, 6])]
        #expect(try frames(inside) == ["missing", "text [1, 0, 0, 0]", "text [5, 6]"])
        let between: [Piece] = [.bytes(begins + [1, 2, 3, 4]), .gap(5), .bytes([0x01, 5, 6])]
        #expect(try frames(between) == ["text [1, 2, 3, 4]", "missing", "unframed 3"])
        // What has no key is kept.
        let setting: [UInt8] = [0x82, 0, 1, 2, 9]
        let kept: [Piece] = [.bytes(setting), .gap(50), .bytes(setting + [0x81, 0, 9, 1] + Array(1...9))]
        #expect(try frames(kept).suffix(2) == ["setting [9]", "text [1, 2, 3, 4, 5, 6, 7, 8, 9]"])
    }

    /// Keys come from the network: how many are remembered is bounded.
    @Test func keysAreBounded() throws {
        let memory = DirectionMemory()
        for key in 0..<100_000 { memory.remember(key, at: DirectionMemory.Place(name: "x", key: .number(key))) }
        #expect(memory.values.count == 4_096)
        memory.remember(-1, at: DirectionMemory.Place(name: "x", key: .number(17)))
        #expect(memory.values[DirectionMemory.Place(name: "x", key: .number(17))] == -1)
        memory.remember(5, at: DirectionMemory.Place(name: "y", key: .none))
        memory.lost()
        #expect(memory.values.isEmpty)
    }

    /// What tells streams apart may be bytes or text; long ones are not remembered.
    @Test(arguments: [
        ("bytes, size: 2", 2), ("string, size: 2", 2), ("bytes, size: 256", 256), ("bytes, size: 257", 257),
    ])
    func keysMayBeBytes(type: String, size: Int) throws {
        let yaml = """
            format: by
            header: [{ begins: u8 }, { stream: { type: \(type) } }, { size: { type: u8, when: begins == 1 } }]
            framing:
              rule: fields
              body: [{ when: begins == 1, size: size, most: 4 }, { size: last.left, most: 4 }]
              remembers:
                - { name: left, by: stream, value: size - body.length, when: begins == 1 }
                - { name: left, by: stream, value: last.left - body.length, when: begins == 0 }
            """
        var framers = try FormatLoader.load(yaml, file: "by.yaml").framers(aligned: true)
        let (one, other) = ([UInt8](repeating: 0x61, count: size), [UInt8](repeating: 0x62, count: size))
        let pieces: [[UInt8]] = [
            [1] + one + [6, 1, 2, 3, 4], [1] + other + [5, 1, 2, 3, 4], [0] + one + [5, 6], [0] + other + [5],
        ]
        let (log, scratch, bytes) = (FramedLog(), FramingScratch(), pieces.flatMap { $0 })
        framers.fromClient.receive(
            bytes.span.bytes, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: log)
        framers.fromClient.finish(scratch: scratch, into: log)
        let remembered = size <= 256 ? pieces.count : 2
        #expect(log.frames.map(\.length) == pieces.prefix(remembered).map(\.count))
    }

    @Test(arguments: [
        (
            "body: [{ when: begins == 1, size: size, most: last.pice }",
            "frames leave no value pice; did you mean piece?"
        ),
        (
            "body: [{ when: begins == 1, size: chunked, most: last.piece }",
            "most needs a size that is a number of bytes"
        ),
    ])
    func faults(_ line: String, _ message: String) throws {
        let yaml = Self.yaml.replacing("body: [{ when: begins == 1, size: size, most: last.piece }", with: line)
        let error = #expect(throws: FormatFileError.self) { try FormatLoader.load(yaml, file: "pieces.yaml") }
        #expect(error.map { "\($0)".contains(message) } == true, "\(error.map { "\($0)" } ?? "")")
    }

    @Test func lastNeedsANameThatIsRemembered() throws {
        let yaml = "format: x\nheader: [{ a: u8 }]\nframing: { rule: fields, body: last.a }"
        let error = #expect(throws: FormatFileError.self) { try FormatLoader.load(yaml, file: "x.yaml") }
        #expect(error.map { "\($0)".contains("last.NAME is known only where") } == true)
    }
}

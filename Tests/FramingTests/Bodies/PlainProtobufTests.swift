import Streams
import Testing

@testable import Framing

/// Messages that are written in one pass are written as the decoder writes them.
@Suite struct PlainProtobufTests {
    private struct Messages {
        var generator: SeededGenerator

        mutating func varint(_ value: UInt64) -> [UInt8] {
            var (rest, bytes) = (value, [UInt8]())
            while rest > 0x7f {
                bytes.append(UInt8(rest & 0x7f) | 0x80)
                rest >>= 7
            }
            return bytes + [UInt8(rest)]
        }

        mutating func message(depth: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            var number: UInt64 = 0
            for _ in 0..<Int.random(in: 0...5, using: &generator) {
                // Mostly in order; sometimes the same again, or one that is no field.
                number =
                    Int.random(in: 0...9, using: &generator) == 0
                    ? .random(in: 0...3, using: &generator) : number + .random(in: 1...20, using: &generator)
                let type = UInt64([0, 0, 1, 2, 2, 2, 5, 3].randomElement(using: &generator) ?? 0)
                bytes += varint(number << 3 | type)
                switch type {
                case 0:
                    bytes += varint(
                        .random(in: 0...(.max >> UInt64.random(in: 0...63, using: &generator)), using: &generator))
                case 1: bytes += noise(8)
                case 5: bytes += noise(4)
                case 3: bytes += depth < 3 ? message(depth: depth + 1) + varint(number << 3 | 4) : []
                default:
                    let value: [UInt8]
                    switch Int.random(in: 0...4, using: &generator) {
                    case 0: value = Array("text \"ü\" 日本".utf8)
                    case 1: value = Array("a\nb".utf8)
                    case 2 where depth < 9: value = message(depth: depth + 1)
                    default: value = noise(.random(in: 0...12, using: &generator))
                    }
                    bytes += varint(UInt64(value.count)) + value
                }
            }
            return bytes
        }

        mutating func noise(_ count: Int) -> [UInt8] {
            (0..<count).map { _ in .random(in: 0...255, using: &generator) }
        }
    }

    /// Writes a message after other bytes, with as much room as it asks for and no more, or with less.
    private func write(_ message: [UInt8], into output: inout [UInt8], _ room: Int? = nil) -> Bool {
        guard let size = room ?? PlainProtobuf.room(for: message.count) else { return false }
        return withUnsafeTemporaryAllocation(byteCount: size + 1, alignment: 1) { memory in
            guard let start = memory.baseAddress else { return false }
            var room = ByteRoom(start, size: size)
            let isWritten = PlainProtobuf.write(message.span.bytes, into: &room)
            output += memory[..<room.count]
            return isWritten
        }
    }

    @Test func theSameAsTheDecoder() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var messages = Messages(generator: SeededGenerator(seed: seed))
        var written = 0
        for round in 0..<20_000 {
            var message = messages.message(depth: 0)
            if round % 3 == 0, let place = message.indices.randomElement(using: &messages.generator) {
                message[place] = .random(in: 0...255, using: &messages.generator)
            }
            if round % 7 == 0 { message.removeLast(min(message.count, 1)) }
            var output: [UInt8] = [1, 2, 3]
            guard write(message, into: &output) else {
                #expect(output == [1, 2, 3], "seed \(seed), \(message)")
                continue
            }
            written += 1
            let expected = ProtobufBody.json(ofMessage: message.span.bytes)
            #expect(expected.map { [1, 2, 3] + $0 } == output, "seed \(seed), \(message)")
        }
        #expect(written > 5_000)
    }

    /// What has many messages inside one another is left to the decoder.
    @Test func deepMessagesAreLeft() {
        var message: [UInt8] = [8, 1]
        for _ in 0..<40 { message = [10, UInt8(message.count)] + message }
        var output: [UInt8] = []
        #expect(!write(message, into: &output) && output.isEmpty)
    }

    /// With less room nothing is written, or all of it.
    @Test func whereThereIsNoRoomNothingIsWritten() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var messages = Messages(generator: SeededGenerator(seed: seed))
        for _ in 0..<300 {
            let message = messages.message(depth: 0)
            var all: [UInt8] = []
            guard write(message, into: &all) else { continue }
            for room in 0..<(PlainProtobuf.room(for: message.count) ?? 0) {
                var output: [UInt8] = []
                let isWritten = write(message, into: &output, room)
                #expect(output == (isWritten ? all : []), "seed \(seed), \(room), \(message)")
            }
        }
    }

    /// What takes most room in JSON has enough of it.
    @Test(arguments: [
        [0x08, 0x7f], [0x0d, 0xff, 0xff, 0xff, 0xff], [0x0a, 0x00], [0x0a, 0x01, 0xff], [0x0a, 0x01, 0x22],
        [0x0a, 0x02, 0xc2, 0x80],
        [0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01], [0x0a, 0x02, 0x08, 0x00],
        [0x09, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], [0x0a, 0x03, 0x22, 0x22, 0x22],
    ])
    func whatTakesMostRoom(_ field: [UInt8]) {
        var messages = Messages(generator: SeededGenerator(seed: 0))
        for size in [1, 20, 127, 1_000, 8_192] {
            // Fields of this kind, in the order of their numbers.
            var (message, number): ([UInt8], UInt64) = ([], 1)
            while true {
                let next = messages.varint(number << 3 | UInt64(field[0] & 7)) + field.dropFirst()
                guard number == 1 || message.count + next.count <= size else { break }
                message += next
                number += 1
            }
            for message in [message, [0x0a] + messages.varint(UInt64(message.count)) + message]
            where message.count <= 8_192 {
                var output: [UInt8] = []
                #expect(write(message, into: &output), "\(size), \(message.prefix(20))")
                #expect(ProtobufBody.json(ofMessage: message.span.bytes) == output, "\(size), \(message.prefix(20))")
            }
        }
    }

    /// Longer messages are left to the decoder.
    @Test func longMessagesAreLeft() {
        #expect(PlainProtobuf.room(for: 8_192) != nil && PlainProtobuf.room(for: 8_193) == nil)
        let message: [UInt8] = [10, 0x80, 0x40] + [UInt8](repeating: 0x61, count: 8_192)
        #expect(PlainProtobuf.json(of: message.span.bytes) == nil)
        #expect(ProtobufBody.json(ofMessage: message.span.bytes) != nil)
        #expect(PlainProtobuf.json(of: message.span.bytes.extracting(3..<3)) == Array("{}".utf8))
    }
}

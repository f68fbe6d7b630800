import Streams
import Testing

@testable import Framing

/// The constants of a header are the same for those who ask whether they are right, and for those who ask what is wrong.
@Suite struct HeaderConstantTests {
    @Test func whatScansHasItsConstants() {
        var kind = HeaderField(name: "kind", kind: .unsigned(width: 1))
        kind.allowed = [AllowedValues(low: .integer(1), high: .integer(2))]
        var flags = HeaderField(name: "flags", kind: .unsigned(width: 2), order: .little)
        flags.bits = [HeaderField.Bits(name: "version", lowest: 8, count: 2, constant: 1)]
        let digits = HeaderField(name: "digits", kind: .numeral(.digits(count: 2, base: 10)))
        var mark = HeaderField(name: "mark", kind: .unsigned(width: 1))
        mark.constant = .integer(1)
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let alphabet: [UInt8] = [0, 1, 2, 0x30, 0x39, 0x61]
        var right = 0
        for fields in [[kind, mark], [flags, mark], [digits, mark], [kind, flags, digits, mark]] {
            let head = BinaryHead(fields)
            for _ in 0..<500 {
                let count = head.fixedLength ?? 0
                let bytes = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
                var isComplete = false
                if case .complete = head.scan(bytes.span.bytes, at: 0) { isComplete = true }
                #expect(head.hasItsConstants(bytes.span.bytes) == isComplete, "\(bytes), seed \(seed)")
                if isComplete { right += 1 }
            }
        }
        #expect(right > 20, "seed \(seed)")
    }

    private static func field(
        _ name: String, _ width: Int, _ constant: Int64? = nil, _ order: ByteOrder = .big
    ) -> HeaderField {
        var field = HeaderField(name: name, kind: .unsigned(width: width), order: order)
        field.constant = constant.map { .integer($0) }
        return field
    }

    /// Constants before, behind and across the eight bytes that are compared at once.
    private static let plain: [[HeaderField]] = [
        [field("mark", 1, 0xd5)], [field("kind", 2), field("mark", 2, 0x0102, .little), field("flag", 1)],
        [field("mark", 2, 0xd5aa), field("length", 4), field("end", 4, 0x0102_0304)],
        [field("length", 4), field("id", 4), field("mark", 2, 0x5a96), field("flag", 1)],
        [field("kind", 2), field("length", 2)],
    ]

    @Test(arguments: 0..<5) func constantsAreComparedByteByByte(number: Int) throws {
        let fields = Self.plain[number]
        let head = BinaryHead(fields)
        let length = try #require(head.fixedLength)
        #expect((head.plainConstants == nil) == (2...3).contains(number))
        // What each byte has to be.
        var required: [UInt8?] = []
        for field in fields {
            let bytes: [UInt8]? = try field.constant.map { try BinaryHead.encode($0, as: field) }
            for index in 0..<(field.fixedSize ?? 0) { required.append(bytes?[index]) }
        }
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<400 {
            var bytes = required.map { $0 ?? UInt8.random(in: 0...255, using: &generator) }
            for place in bytes.indices where Int.random(in: 0..<12, using: &generator) == 0 { bytes[place] ^= 1 }
            let start = Int.random(in: 0...3, using: &generator)
            let rest = Int.random(in: 0...9, using: &generator)
            let available = Int.random(in: 1...length, using: &generator)
            let whole = [UInt8](repeating: 0xd5, count: start) + bytes + [UInt8](repeating: 0xd5, count: rest)
            for (all, count) in [(whole, length), (Array(whole.prefix(start + available)), available)] {
                let isRight = zip(bytes, required).prefix(count).allSatisfy { $1 == nil || $0 == $1 }
                switch head.scan(all.span.bytes, at: start) {
                case .complete(let found): #expect(isRight && count == length && found == length, "seed \(seed)")
                case .incomplete(let least): #expect(isRight && count < length && least == length, "seed \(seed)")
                case .bad: #expect(!isRight, "\(all) from \(start), seed \(seed)")
                }
            }
        }
    }

    /// Without constants, digits are not looked at: a frame ends wherever its rule says.
    @Test func digitsAloneAreNotLookedAt() {
        let head = BinaryHead([HeaderField(name: "code", kind: .numeral(.digits(count: 3, base: 10)))])
        let bytes = Array("abc".utf8)
        guard case .complete(3) = head.scan(bytes.span.bytes, at: 0) else {
            Issue.record("a header without constants is complete")
            return
        }
    }

    /// A length of 64 bits behind a constant, up to those that no `Int` has room for.
    @Test func longLengthsAfterConstantsAreBad() {
        let rule = LengthField(
            head: BinaryHead([Self.field("mark", 1, 0xd5), Self.field("size", 8)]), field: 1, counts: .body)
        func scan(_ size: UInt64) -> FrameScan {
            let bytes = [0xd5] + (0..<8).map { UInt8(truncatingIfNeeded: size >> (56 - 8 * $0)) }
            var memory = ScanMemory()
            return rule.scan(bytes.span.bytes, from: 0, origin: 0, ended: false, memory: &memory)
        }
        func detail(_ size: UInt64) -> String {
            if case .bad(let bad) = scan(size) { "\(bad.reason.rawValue): \(bad.detail)" } else { "-" }
        }
        #expect(detail(7) == "-")
        #expect(
            detail(1 << 62) == "too-long: size (head at offset 0) is \(1 << 62), the limit of a frame is \(16 << 20)")
        #expect(detail(1 << 63) == "bad-length: size (head at offset 0) is 9223372036854775808, expected a number")
    }
}

import Expressions
import Testing

/// Bytes, and the hex digits as which traces show them.
@Suite struct BytesComparisonTests {
    /// `kind` is bytes, as a header's field is, or their digits, as a value in a body is.
    @Test(arguments: [Value.bytes([0x02, 0x0a]), .text("020a")]) func bothLiteralsMatchBoth(kind: Value) throws {
        let fields = Fields(values: ["kind": kind])
        for holds in [
            #"kind == "020a""#, #"kind == x"020a""#, #"x"020a" == kind"#, #"kind in {"020a"}"#, #"kind in {x"02 0a"}"#,
            #"kind != x"020b""#, #"kind != "020b""#, #"kind < x"020b""#, #"kind < "020b""#, #"kind >= "0200""#,
        ] {
            #expect(try Expression(holds).evaluate(fields), "\(holds)")
        }
        for fails in [
            #"kind == x"02""#, #"kind == "02""#, #"kind == "020a00""#, #"kind == x"020b""#, #"kind > "020b""#,
        ] {
            #expect(try !Expression(fails).evaluate(fields), "\(fails)")
        }
    }

    /// Digits in upper case are the same bytes; what is no pair of digits for each byte is compared as text.
    @Test func otherTexts() throws {
        let fields = Fields(values: ["kind": .bytes(Array("GE".utf8)), "low": .bytes([0xab])])
        #expect(try Expression(#"kind == "GE" and kind == "4745" and low == "AB""#).evaluate(fields))
        #expect(try !Expression(#"kind == "47zz" or kind == "474" or low == "a""#).evaluate(fields))
    }

    /// Any bytes equal their digits, and no others of the same length.
    @Test func anyBytesAreTheirDigits() {
        var generator = SeededGenerator.printed("anyBytesAreTheirDigits")
        for _ in 0..<200 {
            let count = Int.random(in: 0...20, using: &generator)
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let other = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let digits = Value.text(other.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())
            #expect(Value.bytes(bytes).compared(to: digits) == Value.bytes(bytes).compared(to: .bytes(other)))
            #expect(digits.compared(to: .bytes(bytes)) == Value.bytes(other).compared(to: .bytes(bytes)))
        }
    }
}

import Framing
import Streams
import Testing

/// Frames inside a body whose own bodies are compressed: they may be a thousand times as long as what was received.
@Suite struct ExpandedInnerFrameTests {
    /// Each of them has a MiB.
    @Test(arguments: [(2, false), (40, true)])
    func whatTheyAreDecodedToIsBoundedTogether(count: Int, isTooMuch: Bool) throws {
        let format = try FormatLoader.load(
            """
            format: x
            header: [{ length: u32 }]
            framing: { rule: length-field, field: length }
            formats:
              zipped: { header: [{ size: u16 }], framing: { rule: length-field, field: size }, body: [gzip, text] }
            body: { format: { name: zipped } }
            """, file: "x.yaml")
        let part = try bodies("gzip").encode(.bytes([UInt8](repeating: 0x61, count: 1 << 20)), type: nil)
        let frame = [UInt8(part.count >> 8), UInt8(part.count & 255)] + part
        let body = [[UInt8]](repeating: frame, count: count).flatMap { $0 }
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: body.count >> $0) } + body
        let decoded = format.directions.fromClient.decodeBody(
            of: bytes.span.bytes, FrameShape(head: 4, body: body.count))
        let (size, faults) = (decoded.bytes?.count ?? 0, decoded.faults.map(\.message))
        if isTooMuch {
            #expect(faults.count == 1 && faults.first?.contains("more than 16 MiB") == true, "\(faults)")
            #expect(size == 0)
        } else {
            #expect(faults.isEmpty)
            #expect(size > count << 20 && size < (count << 20) + 1_000)
        }
    }
}

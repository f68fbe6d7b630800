import Framing
import Streams
import Testing

/// Input designed to exhaust a resource: each is an event or an error within the limits, and framing continues after it.
@Suite struct HostileTests {
    @Test func aLengthOfFourGigabytesReservesNothingAndIsSkipped() throws {
        let rule = try #require(try BuiltInFormats.format(named: "tlv32")).directions.fromClient.rule
        let huge: [UInt8] = [0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0]
        let good: [UInt8] = [0x0d, 0, 0, 0, 2, 0, 0, 0] + Array("Hello".utf8)
        let (log, counts) = frame([.bytes(huge + good + good + good)], with: rule)
        #expect(log.frames.count == 3 && counts.unframed == huge.count)
        guard case .unframed(0, _, .tooLong, let detail)? = log.results.first else {
            Issue.record("\(log.results)")
            return
        }
        #expect(detail.contains("4294967295") && detail.contains("268435456"))
    }

    @Test func aMarkerThatNeverReturnsIsGivenUpAtTheLimit() throws {
        let yaml = "format: x\nframing: { rule: marker, start: ab, idle: none, limit: 1 KiB }"
        let rule = try FormatLoader.load(yaml, file: "x").directions.fromClient.rule
        var framer = Framer(rule: rule, direction: .fromClient, aligned: true)
        let (log, scratch) = (FramedLog(), FramingScratch())
        var most = 0
        let chunk = [UInt8](repeating: UInt8(ascii: "x"), count: 100)
        for index in 0..<2_000 {
            let bytes = index == 0 ? Array("ab".utf8) + chunk : chunk
            framer.receive(bytes.span.bytes, at: Timestamp(nanoseconds: 1), packet: 1, scratch: scratch, into: log)
            most = max(most, framer.heldBytes)
        }
        #expect(most <= 2 * UnframedRun.longest)
        let after = Array("abfirstabsecondab".utf8)
        framer.receive(after.span.bytes, at: Timestamp(nanoseconds: 2), packet: 2, scratch: scratch, into: log)
        #expect(log.frames.count == 2)
    }

    /// The longest frame has the same length whether or not all of the marker after it has arrived.
    @Test func aMarkerAtTheLimitMayBeCut() throws {
        let yaml = "format: x\nframing: { rule: marker, start: abcd, idle: none, limit: 20 B }"
        let rule = try FormatLoader.load(yaml, file: "x").directions.fromClient.rule
        for length in 10...20 {
            let bytes = Array("abcd\(String(repeating: "x", count: length))abcdyyabcdz".utf8)
            let (log, _) = frame([.bytes(bytes)], with: rule)
            #expect(log.frames.count == (length <= 16 ? 3 : 2))
            expectCuttingDoesNotMatter(bytes, rule: rule)
        }
    }

    @Test func aliasesThatWouldExplodeAreRefused() {
        var yaml = "a: &a [x, x, x, x, x, x, x, x, x]\n"
        for (name, last) in zip("bcdefghij", "abcdefghi") {
            yaml += "\(name): &\(name) [\(Array(repeating: "*\(last)", count: 9).joined(separator: ", "))]\n"
        }
        do throws(FormatFileError) {
            _ = try FormatLoader.load(yaml, file: "bomb.yaml")
            Issue.record("the file was taken")
        } catch {
            #expect(error.description.contains("bomb.yaml:2:8: aliases (*name) are not allowed"), "\(error)")
        }
    }
}

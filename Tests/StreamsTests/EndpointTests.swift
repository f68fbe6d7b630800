import Streams
import Testing

@Suite struct EndpointTests {
    @Test(
        arguments: [
            (0x2001_0db8_0000_0000, 0x0000_0000_0000_0001, "2001:db8::1"),
            (0x2001_0db8_0000_0001, 0x0000_0000_0000_0001, "2001:db8:0:1::1"),
            (0x2001_0db8_0000_0001, 0x0001_0001_0001_0001, "2001:db8:0:1:1:1:1:1"),
            (0, 0, "::"),
            (0, 1, "::1"),
            (0xfe80_0000_0000_0000, 0x0000_0000_0000_0000, "fe80::"),
            (0, 0xffff_0102_0304, "::ffff:1.2.3.4"),
        ] as [(UInt64, UInt64, String)])
    func ipv6IsWrittenAsRFC5952Says(high: UInt64, low: UInt64, text: String) {
        #expect(IPAddress(v6: high, low).description == text)
    }

    @Test func endpointsBracketIPv6() {
        #expect(Endpoint(IPAddress(v4: 0x7f00_0001), 80).description == "127.0.0.1:80")
        #expect(Endpoint(IPAddress(v6: 0, 1), 80).description == "[::1]:80")
    }

    @Test func timesClampInsteadOfTrapping() {
        #expect(Timestamp(seconds: .max, nanoseconds: 1).nanoseconds == .max)
        #expect(Timestamp(nanoseconds: .max) + Interval(nanoseconds: 1) == Timestamp(nanoseconds: .max))
        #expect(Timestamp(nanoseconds: .min) - Timestamp(nanoseconds: 1) == Interval(nanoseconds: .min))
    }
}

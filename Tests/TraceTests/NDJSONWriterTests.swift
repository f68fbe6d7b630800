import Streams
import Testing

@testable import Framing
@testable import Trace

/// NDJSON lines, byte for byte (`docs/trace.md`).
@Suite struct NDJSONWriterTests {
    /// The lines after the first one.
    private func lines(bodyLimit: Int = 4_096, _ play: (Script, NDJSONWriter) throws -> Void) throws -> [String] {
        try ndjson(bodyLimit: bodyLimit, play).split(separator: "\n").dropFirst().map(String.init)
    }

    @Test func traceOpenedFormat() throws {
        let output = try ndjson(source: "a \"quoted\"\\name\u{1b}") { script, _ in script.open(handshake: false) }
        #expect(
            output == #"""
                {"event":"trace","version":2,"source":"a \"quoted\"\\name\u001b","tool":"frametap 0.1.0"}
                {"event":"opened","connection":1,"time":"2026-11-21T08:00:00.013000000Z","transport":"tcp","client":"127.0.0.1:51034","server":"127.0.0.1:8088","handshake":false,"clientGuessed":false}
                {"event":"format","connection":1,"format":"im-json","by":"content","evidence":"JSON head with size, CRLF"}

                """#)
    }

    @Test func ipv6() throws {
        let lines = try lines { _, writer in
            let opening = Opening(
                number: 7, time: start, client: Endpoint(IPAddress(v6: 0x2001_0db8_0000_0000, 1), 40_000),
                server: Endpoint(IPAddress(v6: 0, 1), 80), clientGuessed: true)
            writer.opened(TracedConnection(opening))
        }
        #expect(
            lines == [
                #"{"event":"opened","connection":7,"time":"2026-11-21T08:00:00.000000000Z","transport":"tcp","client":"[2001:db8::1]:40000","server":"[::1]:80","handshake":true,"clientGuessed":true}"#
            ])
    }

    /// There is no `format` line if no format was recognised.
    @Test func notRecognised() throws {
        #expect(try lines { script, _ in script.open(isRecognised: false) }.count == 1)
    }

    @Test func frame() throws {
        let lines = try lines { script, _ in
            script.open()
            try script.text("Hello")
            try script.frame(
                from: .fromServer, at: start + .milliseconds(21),
                [
                    Field("type", .null), Field("é\"", .boolean(true)), Field("n", .integer(-5)),
                    Field("big", .unsigned(.max)), Field("half", .number(0.5)), Field("list", .json("[1,{}]")),
                ], body: [0x00, 0xff], .merged(2, of: 2), isHeartbeat: true)
        }
        #expect(
            Array(lines.dropFirst(2)) == [
                #"{"event":"frame","connection":1,"from":"client","index":0,"time":"2026-11-21T08:00:00.020000000Z","started":"2026-11-21T08:00:00.020000000Z","offset":0,"length":95,"segments":1,"merged":false,"type":"txt","heartbeat":false,"fields":{"CinentID":"CinentA","size":"5","targetID":"CinentB","type":"txt"},"body":{"length":5,"text":"Hello"}}"#,
                #"{"event":"frame","connection":1,"from":"server","index":0,"time":"2026-11-21T08:00:00.021000000Z","started":"2026-11-21T08:00:00.021000000Z","offset":0,"length":135,"segments":1,"merged":true,"type":null,"heartbeat":true,"fields":{"big":18446744073709551615,"half":0.5,"list":[1,{}],"n":-5,"size":"2","type":null,"é\"":true},"body":{"length":2,"hex":"00ff"}}"#,
            ])
    }

    @Test func missingUnframedFindingDropped() throws {
        let lines = try lines { script, writer in
            script.open()
            let connection = try #require(script.connections[1])
            let gap = Gap(direction: .fromServer, offset: 300, byteCount: 1_448, time: start)
            writer.missing(gap, on: connection)
            let run = UnframedRun(
                offset: 95, bytes: [0x7b, 0x0a, 0xff], time: start, reason: .incomplete,
                detail: "3 of 88 head bytes when the stream ended")
            writer.unframed(run, from: .fromClient, on: connection)
            script.gap(at: 3_000)
            writer.dropped(gap, reason: "recorder too slow", on: connection)
        }
        #expect(
            Array(lines.dropFirst(2)) == [
                #"{"event":"missing","connection":1,"from":"server","time":"2026-11-21T08:00:00.000000000Z","offset":300,"length":1448}"#,
                #"{"event":"unframed","connection":1,"from":"client","time":"2026-11-21T08:00:00.000000000Z","offset":95,"length":3,"reason":"incomplete","detail":"3 of 88 head bytes when the stream ended","hex":"7b0aff"}"#,
                #"{"event":"finding","connection":1,"from":"client","time":"2026-11-21T08:00:03.000000000Z","kind":"heartbeat-gap","severity":"warning","message":"heartbeat gap: 3.0 s since heartB, expected every 1 s","data":{"expectedEvery":1.0,"lastIndex":4}}"#,
                #"{"event":"dropped","connection":1,"from":"server","time":"2026-11-21T08:00:00.000000000Z","offset":300,"length":1448,"reason":"recorder too slow"}"#,
            ])
    }

    @Test func closed() throws {
        let lines = try lines { script, _ in
            script.open()
            script.close(
                at: 100, client: counts(framed: 95, unframed: 12, frames: 1),
                server: counts(framed: 300, padding: 2, missing: 1_448, frames: 3))
            script.close(at: 100, .connectFailed, by: nil, detail: "connection refused\n")
        }
        #expect(
            Array(lines.dropFirst(2)) == [
                #"{"event":"closed","connection":1,"time":"2026-11-21T08:00:00.100000000Z","reason":"fin","by":"client","client":{"bytes":107,"framed":95,"unframed":12,"padding":0,"missing":0,"frames":1},"server":{"bytes":1750,"framed":300,"unframed":0,"padding":2,"missing":1448,"frames":3}}"#,
                #"{"event":"closed","connection":1,"time":"2026-11-21T08:00:00.100000000Z","reason":"connect-failed","by":null,"client":{"bytes":0,"framed":0,"unframed":0,"padding":0,"missing":0,"frames":0},"server":{"bytes":0,"framed":0,"unframed":0,"padding":0,"missing":0,"frames":0}}"#,
            ])
    }

    @Test func summary() throws {
        let lines = try lines { _, writer in
            var summary = Summary()
            var totals = Summary.Totals()
            totals.bytes = counts(framed: 395, unframed: 12, padding: 1, missing: 1_448, frames: 4)
            (totals.connections, totals.split, totals.merged, totals.heartbeats) = (1, 1, 2, 3)
            totals.findings = [.heartbeatGap: 1]
            summary.formats["im-json"] = totals
            summary.formats[nil] = totals
            summary.dropped = 65_495
            writer.summary(summary)
            summary.skipped = [("udp", 12), ("not IP", 1)]
            writer.summary(summary)
        }
        let common =
            #"{"event":"summary","connections":2,"frames":8,"bytes":3712,"framed":790,"unframed":24,"padding":2,"missing":2896,"dropped":65495,"split":2,"merged":4,"heartbeats":6,"findings":{"heartbeat-gap":2}"#
        #expect(lines == [common + "}", common + #","skipped":{"udp":12,"not IP":1}}"#])
    }

    /// The body of one frame.
    private func body(limit: Int = 4_096, missing: Int = 0, _ bytes: [UInt8]) throws -> String {
        let lines = try lines(bodyLimit: limit) { script, _ in
            script.open()
            try script.frame(
                at: start, script.clientHead("txt", "a", "b"), body: bytes, Script.Cutting(missing: missing))
        }
        let line = try #require(lines.last)
        let range = try #require(line.firstRange(of: #""body":"#))
        return String(line[range.upperBound...].dropLast())
    }

    @Test func bodyLimit() throws {
        let text = Array("心跳a".utf8)
        #expect(try body(limit: 0, text) == #"{"length":7}"#)
        // Truncated before the character that does not fit.
        #expect(try body(limit: 1, text) == #"{"length":7,"text":"","truncated":true}"#)
        #expect(try body(limit: 3, text) == #"{"length":7,"text":"心","truncated":true}"#)
        #expect(try body(limit: 5, text) == #"{"length":7,"text":"心","truncated":true}"#)
        #expect(try body(limit: 6, text) == #"{"length":7,"text":"心跳","truncated":true}"#)
        #expect(try body(limit: 7, text) == #"{"length":7,"text":"心跳a"}"#)
        #expect(try body(limit: 1, []) == #"{"length":0,"text":""}"#)
        #expect(try body(limit: 0, []) == #"{"length":0}"#)
        #expect(try body(limit: 2, [0xff, 0x00, 0xaa]) == #"{"length":3,"hex":"ff00","truncated":true}"#)
        // Whether it is text depends on the whole body, not on the part shown.
        #expect(try body(limit: 2, [0x61, 0x62, 0xff]) == #"{"length":3,"hex":"6162","truncated":true}"#)
    }

    /// A gap is zeros, and zeros that were never seen are not text.
    @Test func bodyWithGap() throws {
        #expect(try body(missing: 2, [0x61, 0, 0, 0x62]) == #"{"length":4,"missing":2,"hex":"61000062"}"#)
        #expect(try body(limit: 0, missing: 2, [0x61, 0, 0]) == #"{"length":3,"missing":2}"#)
        #expect(
            try body(limit: 1, missing: 2, [0x61, 0, 0]) == #"{"length":3,"missing":2,"hex":"61","truncated":true}"#)
    }

    /// Control characters of both sets are escaped; everything else is written as it is.
    @Test func escapes() throws {
        let text = "\u{0}\u{8}\t\n\u{b}\u{c}\r\u{1b}\u{1f} \"\\/\u{7f}\u{80}\u{9b}\u{9f}\u{a0}é心😀\u{2028}"
        let escaped =
            #"\u0000\b\t\n\u000b\f\r\u001b\u001f \"\\/\u007f\u0080\u009b\u009f"# + "\u{a0}é心😀\u{2028}"
        #expect(try body(Array(text.utf8)) == "{\"length\":\(text.utf8.count),\"text\":\"\(escaped)\"}")
    }

    @Test func extremeTimes() throws {
        let lines = try lines { script, _ in
            script.open()
            for nanoseconds in [Int64.min, -1, 0, .max] {
                try script.frame(at: Timestamp(nanoseconds: nanoseconds), [], body: [])
            }
        }
        let times = lines.dropFirst(2).map { line in
            line.firstMatch(of: #/"started":"([^"]*)"/#).map { String($0.1) } ?? ""
        }
        #expect(
            times == [
                "1677-09-21T00:12:43.145224192Z", "1969-12-31T23:59:59.999999999Z", "1970-01-01T00:00:00.000000000Z",
                "2262-04-11T23:47:16.854775807Z",
            ])
    }
}

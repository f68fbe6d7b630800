import Streams
import Testing

@testable import Framing
@testable import Trace

/// The text layout, as whole outputs.
@Suite struct TextLayoutTests {
    private static func play(_ script: Script, _ writer: TextWriter) throws {
        script.open()
        try script.heartbeat()
        try script.text("Hello", .merged(1, of: 5))
        try script.text("I", .merged(2, of: 5))
        let picture = [0xff, 0xd8, 0xff, 0xe0] + [UInt8](repeating: 0, count: 48_209)
        let head = script.clientHead("img", "CinentA", "CinentB")
        try script.frame(at: start + .milliseconds(44), head, body: picture, .split(2))
        script.gap(2, at: 3_101)
        script.close(
            at: 5_200, client: counts(framed: 48_914, frames: 12), server: counts(framed: 812, frames: 9))
        var totals = Summary.Totals()
        (totals.connections, totals.split, totals.merged, totals.heartbeats) = (2, 9, 14, 18)
        totals.bytes.frames = 31
        totals.findings = [.heartbeatGap: 1]
        var summary = Summary()
        summary.formats["im-json"] = totals
        writer.summary(summary)
    }

    @Test func chat() throws {
        let golden = """
            08:00:00.013  #1 ●  127.0.0.1:51034 → 127.0.0.1:8088                         im-json (by content)
            08:00:00.014  #1 →  heartA   CinentA             7 B  A心跳                  ♥
            08:00:00.020  #1 →  txt      CinentA → CinentB   5 B  Hello                  merged 1/5
            08:00:00.020  #1 →  txt      CinentA → CinentB   1 B  I                      merged 2/5
            08:00:00.044  #1 →  img      CinentA → CinentB   48,213 B  JPEG ff d8 ff e0  split over 2 segments
            08:00:03.101  #2 ⚠  heartbeat gap: 3.0 s since heartB, expected every 1 s
            08:00:05.200  #1 ○  fin by client   → 12 frames, 48.9 kB   ← 9 frames, 812 B
            im-json: 2 connections, 31 frames (9 split, 14 merged), 18 heartbeats, 1 gap; 0 bytes missing, 0 unframed

            """
        let output = try text(TextOptions(), Self.play)
        #expect(output == golden)
        // Notes are aligned with each other, whatever the body consists of: 77 columns precede them.
        let columns = output.split(separator: "\n").prefix(5).compactMap { line in
            ["im-json (", "♥", "merged", "split over"].compactMap { line.firstRange(of: $0) }.first.map {
                DisplayWidth.of(line[..<$0.lowerBound])
            }
        }
        #expect(columns == [77, 77, 77, 77, 77])
    }

    @Test func chatInColour() throws {
        var options = TextOptions()
        options.isColored = true
        let escape = "\u{1b}"
        let golden = """
            [2m08:00:00.013  [0m#1 ●  127.0.0.1:51034 → 127.0.0.1:8088                         [2mim-json (by content)[0m
            [2m08:00:00.014  [0m#1 [36m→[0m  [1mheartA   [0mCinentA             [2m7 B[0m  A心跳                  [35m♥[0m
            [2m08:00:00.020  [0m#1 [36m→[0m  [1mtxt      [0mCinentA → CinentB   [2m5 B[0m  Hello                  [2mmerged 1/5[0m
            [2m08:00:00.020  [0m#1 [36m→[0m  [1mtxt      [0mCinentA → CinentB   [2m1 B[0m  I                      [2mmerged 2/5[0m
            [2m08:00:00.044  [0m#1 [36m→[0m  [1mimg      [0mCinentA → CinentB   [2m48,213 B[0m  JPEG ff d8 ff e0  [2msplit over 2 segments[0m
            [2m08:00:03.101  [0m#2 [33m⚠[0m  [33mheartbeat gap: 3.0 s since heartB, expected every 1 s[0m
            [2m08:00:05.200  [0m#1 [2m○[0m  fin by client[36m   → [0m12 frames, 48.9 kB[32m   ← [0m9 frames, 812 B
            im-json: 2 connections, 31 frames (9 split, 14 merged), 18 heartbeats, 1 gap; 0 bytes missing, 0 unframed

            """
        let output = try text(options, Self.play)
        // The golden text omits the escape character, so that it can be read.
        #expect(output.replacing(escape, with: "") == golden)
        #expect(output.count { $0 == "\u{1b}" } == golden.count { $0 == "[" })
        // Colour adds escape sequences and nothing else.
        #expect(output.replacing(#/\u{1b}\[[0-9]+m/#, with: "") == (try text(TextOptions(), Self.play)))
    }

    @Test func verbose() throws {
        var options = TextOptions()
        options.isVerbose = true
        options.bodyLimit = 40
        let output = try text(options) { script, _ in
            script.open()
            try script.text("Hello, 心! The rest of this body is beyond the limit.")
        }
        #expect(
            output == """
                08:00:00.013  #1 ●  127.0.0.1:51034 → 127.0.0.1:8088                         im-json (by content)
                08:00:00.020  #1 →  txt      CinentA → CinentB   54 B  Hello, 心! The rest of this body is beyond the limit.
                      CinentID="CinentA"  size="54"  targetID="CinentB"  type="txt"
                  head  00000000  7b 0a 20 20 22 74 79 70  65 22 20 3a 20 22 74 78  |{·  "type" : "tx|
                  head  00000010  74 22 2c 0a 20 20 22 43  69 6e 65 6e 74 49 44 22  |t",·  "CinentID"|
                  head  00000020  20 3a 20 22 43 69 6e 65                           | : "Cine|
                  head  … 51 more bytes
                  body  0000005b  48 65 6c 6c 6f 2c 20 e5  bf 83 21 20 54 68 65 20  |Hello, ···! The |
                  body  0000006b  72 65 73 74 20 6f 66 20  74 68 69 73 20 62 6f 64  |rest of this bod|
                  body  0000007b  79 20 69 73 20 62 65 79                           |y is bey|
                  body  … 14 more bytes

                """)
    }

    @Test func everythingThatCanGoWrong() throws {
        let output = try text { script, writer in
            script.open(handshake: false, clientGuessed: true)
            let connection = try #require(script.connections[1])
            writer.missing(
                Gap(direction: .fromServer, offset: 1_300, byteCount: 1_448, time: start + .milliseconds(30)),
                on: connection)
            writer.dropped(
                Gap(direction: .fromClient, offset: 0, byteCount: 1, time: start + .milliseconds(31)),
                reason: "recorder too slow", on: connection)
            writer.unframed(
                UnframedRun(
                    offset: 95, bytes: [1, 2, 3], time: start + .milliseconds(32), reason: .incomplete,
                    detail: "3 of 88 head bytes when the stream ended"), from: .fromClient, on: connection)
            let head = script.clientHead("txt", "CinentA", "CinentB")
            try script.frame(
                at: start + .milliseconds(33), head, body: [0, 0, 0, 65, 0, 0, 0, 0, 0],
                Script.Cutting(segments: 3, companions: 1, isMerged: true, missing: 8))
            script.gap(at: 34, severity: .info)
            script.gap(at: 35, severity: .error)
            script.close(at: 36, .connectFailed, by: nil, detail: "connection refused")
            script.open(2, at: 40, port: 51035, isRecognised: false)
            script.close(2, at: 41, .reset, by: .fromServer, client: counts(unframed: 1_500))
            var summary = Summary()
            summary.formats["im-json"] = Summary.Totals()
            summary.formats[nil] = Summary.Totals()
            summary.formats[nil]?.connections = 1
            summary.formats[nil]?.bytes = counts(unframed: 1_500)
            summary.dropped = 1
            summary.skipped = [("udp", 1_200), ("arp", 3)]
            writer.summary(summary)
        }
        #expect(
            output == """
                08:00:00.013  #1 ●  127.0.0.1:51034 → 127.0.0.1:8088                         im-json (by content), picked up mid-stream, client guessed
                08:00:00.030  #1 ⚠  ← 1,448 bytes missing at offset 1,300
                08:00:00.031  #1 ⚠  → 1 byte forwarded but not recorded at offset 0: recorder too slow
                08:00:00.032  #1 ⚠  → 3 bytes unframed at offset 95, incomplete: 3 of 88 head bytes when the stream ended
                08:00:00.033  #1 →  txt      CinentA → CinentB   9 B  00 00 00 41 00 00 00 00 …  split over 3 segments, merged, 8 bytes missing
                08:00:00.034  #1 ℹ  heartbeat gap: 3.0 s since heartB, expected every 1 s
                08:00:00.035  #1 ⚠  heartbeat gap: 3.0 s since heartB, expected every 1 s
                08:00:00.036  #1 ○  connect-failed: connection refused   → 0 frames, 0 B   ← 0 frames, 0 B
                08:00:00.040  #2 ●  127.0.0.1:51035 → 127.0.0.1:8088                         format not recognized
                08:00:00.041  #2 ○  reset by server   → 0 frames, 1.5 kB   ← 0 frames, 0 B
                im-json: 0 connections, 0 frames; 0 bytes missing, 0 unframed
                not recognized: 1 connection, 0 frames; 0 bytes missing, 1,500 unframed
                1 byte forwarded but not recorded
                packets skipped: 1,200 udp, 3 arp

                """)
    }

    @Test func emptyTrace() throws {
        #expect(try text { _, writer in writer.summary(Summary()) } == "no TCP connections\n")
    }

    @Test func noSpacesAfterAnEmptyBody() throws {
        let output = try text { script, _ in
            script.open()
            try script.text("")
            try script.text("", .merged(1, of: 2))
        }
        #expect(
            output == """
                08:00:00.013  #1 ●  127.0.0.1:51034 → 127.0.0.1:8088                         im-json (by content)
                08:00:00.020  #1 →  txt      CinentA → CinentB   0 B
                08:00:00.020  #1 →  txt      CinentA → CinentB   0 B                         merged 1/2

                """)
    }

    /// Columns widen for longer names, up to a limit, and stay so.
    @Test func longNames() throws {
        let output = try text { script, _ in
            script.open()
            try script.text("a", type: "presence-update")
            try script.text("b", from: "a-name-of-twenty-two-x", to: "another-that-is-far-too-long", .merged(1, of: 2))
            try script.text("c", type: "a-type-name-beyond-twenty-columns", .merged(2, of: 2))
            for _ in 1...2 { try script.heartbeat() }
        }
        #expect(
            output == """
                08:00:00.013  #1 ●  127.0.0.1:51034 → 127.0.0.1:8088                         im-json (by content)
                08:00:00.020  #1 →  presence-update CinentA → CinentB   1 B  a
                08:00:00.020  #1 →  txt             a-name-of-twenty-two-x → another-that-is-far-t… 1 B  b                      merged 1/2
                08:00:00.020  #1 →  a-type-name-beyond-… CinentA → CinentB                               1 B  c                      merged 2/2
                08:00:00.014  #1 →  heartA               CinentA                                         7 B  A心跳                  ♥
                08:00:00.014  #1 →  heartA               CinentA                                         7 B  A心跳                  ♥

                """)
    }
}

import Foundation
import Framing
import Streams
import Testing

/// `formats encode`, `decode --raw`, and formats with parameters, as commands.
@Suite struct CommandTests {
    private func encode(_ format: String, _ lines: String..., from: String = "client") throws -> Program.Result {
        try Program.run(
            "frametap", ["formats", "encode", format, "--from", from],
            input: Array((lines.joined(separator: "\n") + "\n").utf8))
    }

    /// Possible messages of each built-in format's client and server, one line per frame.
    static let lines: [(format: String, client: [String], server: [String])] = [
        (
            "im-json",
            [
                #"{"fields":{"CinentID":"A","size":"0","type":"heartA"},"body":{"text":"A心跳"}}"#,
                #"{"fields":{"size":5,"type":"img"},"body":{"hex":"ffd8ff00"}}"#,
            ],
            [#"{"fields":{"size":"0","sourceClient":"A","type":"txt"},"body":{"text":"{\r\n"}}"#]
        ),
        (
            "im-magic",
            [
                #"{"fields":{"command":"login","from":"1001","platform":"iOS"},"body":{"hex":"00ff"}}"#,
                #"{"fields":{"version":1,"command":2,"from":"1001","to":"1002"},"body":{"hex":"01"}}"#,
            ],
            [#"{"fields":{"version":1,"command":2},"body":{"hex":"0102"}}"#]
        ),
        (
            "im-magic:byteOrder=little",
            [#"{"fields":{"version":1,"command":2,"from":"1001","to":"1002"},"body":{"hex":"01"}}"#],
            [#"{"fields":{"version":1,"command":2},"body":{"hex":"0102"}}"#]
        ),
        ("fixed", [#"{"body":{"text":"abcd"}}"#, #"{"body":{"hex":"00010203"}}"#], [#"{"body":{"text":"äö"}}"#]),
        ("fixed:size=2", [#"{"body":{"text":"ab"}}"#], [#"{"body":{"text":"ä"}}"#]),
        ("marker", [#"{"body":{"text":"Link-设备:A"}}"#, #"{"body":{"text":""}}"#], [#"{"body":{"text":"1"}}"#]),
        (
            "json-envelope",
            [#"{"body":{"json":{"head":"phoneNum","body":13133334444,"end":11}}}"#, #"{"body":{"json":[1,{}]}}"#],
            [#"{"body":{"json":{"ok":true}}}"#]
        ),
        ("text-heartbeat", [#"{"body":{"text":"12310.300000"}}"#], [#"{"body":{"text":"hello"}}"#]),
        (
            "len16-id", [#"{"fields":{"id":"login","flag":7},"body":{"hex":"0801"}}"#, #"{"fields":{"id":9}}"#],
            [#"{"fields":{"id":"heartbeat"}}"#]
        ),
        (
            "tlv32", [#"{"fields":{"command":"text"},"body":{"text":"Hello"}}"#],
            [#"{"fields":{"command":2,"result":"success"}}"#]
        ),
        (
            "line", [#"{"body":{"text":"one"}}"#, #"{"fields":{"end":"\r\n"},"body":{"text":"esc"}}"#],
            [#"{"body":{"text":"我是回答"}}"#]
        ),
        ("length-field:offset=1,size=2,counts=rest", [#"{"fields":{"before":"ff"},"body":{"text":"x"}}"#], []),
        (#"delimiter:end=\x00"#, [#"{"body":{"text":"one"}}"#], [#"{"body":{"text":"two\n"}}"#]),
        (#"delimiter:end=\xff\xfe"#, [#"{"body":{"text":"one"}}"#], [#"{"body":{"text":"two\n"}}"#]),
        (#"head-and-body:size=n,ends=\n\n"#, [#"{"fields":{"n":0,"t":"a"},"body":{"text":"one"}}"#], []),
        ("escaped", [#"{"body":{"hex":"7e7d0055"}}"#], []),
        ("cobs", [#"{"body":{"hex":"00110000"}}"#, #"{"body":{"text":"one"}}"#], []),
        ("json-sequence", [#"{"body":{"text":"{}"}}"#], []),
        ("chunk", [#"{"body":{"text":"anything"}}"#], []),
    ]

    @Test(arguments: lines.indices) func whatIsEncodedIsDecodedAndEncodedAgain(index: Int) throws {
        let (format, client, server) = Self.lines[index]
        for (direction, lines) in [(Direction.fromClient, client), (.fromServer, server)] where !lines.isEmpty {
            let encoded = try Program.output(
                "frametap", ["formats", "encode", format, "--from", direction.sender],
                input: Array(lines.joined(separator: "\n").utf8))
            #expect(!encoded.output.isEmpty)
            try expectRoundTrip(encoded.output, from: direction, format: format)
        }
    }

    @Test func everyBuiltInFormatAndRuleIsAmongThem() {
        let names = Set(Self.lines.map { String($0.format.prefix { $0 != ":" }) })
        #expect(names == Set(BuiltInFormats.names + BuiltInFormats.ruleNames))
    }

    /// The bytes of the published programs.
    @Test func tlv32() throws {
        let text = try encode("tlv32", #"{"fields":{"command":"text"},"body":{"text":"Hello"}}"#)
        #expect(text.output == [0x0d, 0, 0, 0, 2, 0, 0, 0] + Array("Hello".utf8))
        let answer = try encode("tlv32", #"{"fields":{"command":"text","result":"success"}}"#, from: "server")
        #expect(answer.output == [0x0c, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0])
    }

    @Test func linesThatAreNoFramesOfTheSideAreSkipped() throws {
        let result = try encode(
            "line", #"{"event":"trace","version":1}"#, "", #"{"event":"frame","from":"server","body":{"text":"no"}}"#,
            #"{"event":"frame","from":"client","body":{"text":"yes"}}"#)
        #expect(result.text == "yes\n" && result.status == 0 && result.errors == "")
        let none = try encode("line", #"{"event":"trace","version":1}"#, #"{"from":"server"}"#)
        #expect(none.output == [] && none.status == 0)
        #expect(none.errors == "frametap: none of 2 lines is a frame of the client\n", "\(none.errors)")
        #expect(try encode("line", "\r", #"{"body":{"text":"yes"}}"# + "\r", " ").text == "yes\n")
    }

    /// A trace of connections with rules has every frame twice.
    @Test func oneLegIsBuilt() throws {
        let lines = ["in", "out"].map { #"{"event":"frame","from":"client","leg":"\#($0)","body":{"text":"\#($0)"}}"# }
        let input = Array((lines + [#"{"body":{"text":"-"}}"#]).joined(separator: "\n").utf8)
        for (options, expected) in [([], "in\n-\n"), (["--leg", "out"], "out\n-\n")] {
            let result = try Program.run("frametap", ["formats", "encode", "line"] + options, input: input)
            #expect(result.text == expected && result.status == 0, "\(result.errors)")
        }
        // The message names the leg only where it is the reason.
        for (options, part) in [([], " on the leg in\n"), (["--leg", "out"], " of the client\n")] {
            let line = lines[1].replacing("client", with: options.isEmpty ? "client" : "server")
            let result = try Program.run("frametap", ["formats", "encode", "line"] + options, input: Array(line.utf8))
            #expect(result.output == [] && result.errors.hasSuffix(part), "\(result.errors)")
        }
    }

    @Test(arguments: [
        ("tlv32", "{", "line 1: the line should be a JSON object"),
        ("tlv32", #"{"fields":{"comand":1}}"#, "line 1: the format has no field comand; did you mean command?"),
        ("tlv32", #"{"fields":{"command":"txet"}}"#, "line 1: command is \"txet\""),
        ("tlv32", #"{"body":{"hex":"abc"}}"#, "body.hex"),
        ("tlv32", #"{"body":{"txt":"abc"}}"#, "body has no txt"),
        ("tlv32", #"{"body":{"length":9,"text":"a","truncated":true}}"#, "--body-limit"),
        ("tlv32", #"{"body":{"length":9}}"#, "--body-limit"),
        ("tlv32", #"{"body":{"length":9,"missing":2,"hex":"00"}}"#, "gap"),
        ("tlv32", #"{"from":"me"}"#, "from is \"me\"; expected client or server"),
        ("fixed", #"{"body":{"text":"abc"}}"#, "expected 4"),
        ("im-magic", #"{"layout":"longer"}"#, "no kind of frame longer"),
        ("line", #"{"body":{"text":"«secret»"}}"#, "hides"),
    ])
    func whatCannotBeEncodedIsSaid(format: String, line: String, part: String) throws {
        let result = try encode(format, line)
        #expect(result.status == 2 && result.output == [])
        #expect(result.errors.contains(part) && result.errors.hasPrefix("frametap: line 1: "), "\(result.errors)")
    }

    // MARK: Parameters

    private func decode(_ format: String, _ bytes: String) throws -> Program.Result {
        try Program.run(
            "frametap", ["decode", "--raw", "-", "--as", "ndjson", "--format", format], input: Array(bytes.utf8))
    }

    @Test(arguments: [
        ("fixed:size=8", "12345678abcdefgh", ["12345678", "abcdefgh"]),
        ("length-field:offset=0,size=2,counts=rest", "\0\u{3}one\0\u{1}x", ["one", "x"]),
        (#"delimiter:end=\n"#, "a\nb\n", ["a", "b"]),
        (#"delimiter:end=\r\n,limit=1 KiB"#, "a\nb\r\n", ["a\\nb"]),
        (#"delimiter:end=\x2c\,"#, "a,b,,", ["a,b"]),
        ("marker:start=##,idle=none", "##1##2", ["1", "2"]),
        ("chunk", "a\nb", ["a\\nb"]),
        ("auto", "one\ntwo\n", ["one", "two"]),
    ])
    func formatsTakeParameters(format: String, bytes: String, bodies: [String]) throws {
        let result = try decode(format, bytes)
        #expect(result.status == 0, "\(result.errors)")
        let found = result.text.matches(of: /"text":"(.*?)"\}\}/).map { String($0.1) }
        #expect(found == bodies)
    }

    @Test(arguments: [
        ("fixed:sized=8", "--format fixed:sized=8: the format has no parameter sized; did you mean size?"),
        ("fixed:size=0", "framing.size is 0; expected a whole number from 1"),
        ("fixed:size=8,x", "expected key=value, found x"),
        ("fixed:size=8,size=9", "size is given twice"),
        ("fixed:8", "expected parameters, such as fixed:key=value"),
        (#"delimiter:end=\q"#, "there is no such escape"),
        ("fixd", "fixd: there is no such format; did you mean fixed? "),
        ("rediss", "rediss: there is no such format; did you mean example:redis? "),
        ("example:rediss", "example:rediss: there is no such example; did you mean example:redis? the examples are "),
        ("somethingelse", "somethingelse: there is no such format; built in are "),
        ("99999=line", "99999=line: 99999 is no port; expected a number from 0 to 65535"),
        ("im-json:size=8", "the format has no parameter size; it has none"),
    ])
    func wrongParametersAreSaid(format: String, part: String) throws {
        let result = try decode(format, "abcd")
        #expect(result.status == 64 && result.errors.contains(part), "\(result.status): \(result.errors)")
        #expect(result.errors.hasSuffix("  See 'frametap decode --help' for more information.\n"), "\(result.errors)")
    }

    @Test func aCommandBelowAnotherIsNamedWhole() throws {
        let result = try Program.run("frametap", ["formats", "show", "im-jsn"])
        let unknown = try Program.run("frametap", ["formats", "show"])
        #expect(
            result.errors.contains("there is no format im-jsn; did you mean im-json? built in are "), "\(result.errors)"
        )
        #expect(
            result.status == 64
                && result.errors.hasSuffix("See 'frametap formats show --help' for more information.\n"),
            "\(result.errors)")
        #expect(unknown.status == 64 && unknown.errors.contains("Usage: frametap formats show"), "\(unknown.errors)")
    }

    @Test func aPortMayHaveAFormatWithParameters() throws {
        let example = Example(name: "redis")
        let result = try Program.output(
            "frametap",
            ["decode", example.capturePath, "--format", #"6379=delimiter:end=\r\n"#, "--as", "summary"])
        #expect(result.text.hasPrefix("delimiter: "), "\(result.text)")
        let file = try Program.output(
            "frametap", ["decode", example.capturePath, "--format", "6379=\(example.formatPath)", "--as", "summary"])
        #expect(file.text.hasPrefix("redis: ") && file.text.contains("0 unframed"), "\(file.text)")
    }

    /// Otherwise the summary would depend on where reading happened to stop.
    @Test func theSummaryCountsAllOfAFileOfWhichOnlySomeFramesAreShown() throws {
        let capture = URL(filePath: #filePath).appending(path: "../../../fixtures/im-json/chat.pcap").standardized.path
        let all = try Program.output("frametap", ["decode", capture]).text.split(separator: "\n")
        let two = try Program.output("frametap", ["decode", capture, "--count", "2"]).text.split(separator: "\n")
        #expect(two.last == all.last && two.count < all.count)
    }

    @Test func standardInputIsReadOnce() throws {
        let result = try Program.run("frametap", ["decode", "-", "-"])
        #expect(result.errors.contains("standard input can be read only once"), "\(result.errors)")
    }

    @Test func bodiesThatCannotBeWrittenAreAFailure() throws {
        let capture = URL(filePath: #filePath).appending(path: "../../../fixtures/im-json/chat.pcap").standardized.path
        let result = try Program.run("frametap", ["decode", capture, "--extract", "/dev/null"])
        #expect(result.errors.contains("it is no folder") && result.text.isEmpty, "\(result.errors)")
    }

    @Test(arguments: [
        ("body contains \"x\"", "body alone is no value"), ("fields == 3", "fields alone is no value"),
        ("body.jsn.a == 1", "did you mean body.json.a?"),
    ])
    func aFilterSaysWhichPartOfAFrameItMeans(filter: String, complaint: String) throws {
        let capture = URL(filePath: #filePath).appending(path: "../../../fixtures/im-json/chat.pcap").standardized.path
        let result = try Program.run("frametap", ["decode", capture, "--filter", filter])
        #expect(result.errors.contains(complaint), "\(result.errors)")
    }

    @Test(arguments: ["7", "0"]) func aConnectionThatIsNotThereIsNamed(number: String) throws {
        let capture = URL(filePath: #filePath).appending(path: "../../../fixtures/im-json/chat.pcap").standardized.path
        let result = try Program.run("frametap", ["decode", capture, "--connection", number, "--as", "summary"])
        #expect(result.errors == "frametap: there is no connection \(number): 2 connections in all, numbered from 1\n")
        #expect(result.text.hasPrefix("im-json: 2 connections, "), "\(result.text)")
        let there = try Program.run("frametap", ["decode", capture, "--follow", "2", "--as", "summary"])
        #expect(there.errors.isEmpty)
    }

    /// A value that a format file writes in hex is shown in hex; each frame that shares a packet says which one it is, including
    /// the last.
    @Test func theTextViewShowsHexAndPlaces() throws {
        let capture = URL(filePath: #filePath).appending(path: "../../../fixtures/im-magic/conversation.pcap")
            .standardized.path
        let text = try Program.output("frametap", ["decode", capture, "-v"]).text
        let heads = text.split(separator: "\n").filter { $0.contains("magic=") }
        #expect(!heads.isEmpty && heads.allSatisfy { $0.contains("magic=0x20170817 ") })
        let merged = text.split(separator: "\n").compactMap { line in
            line.range(of: "merged ").map { String(line[$0.upperBound...]) }
        }
        #expect(merged.prefix(2) == ["1/2", "2/2"], "\(merged)")
        for place in merged {
            let parts = place.split(separator: "/").compactMap { Int($0) }
            #expect(parts.count == 2 && (1...(parts.last ?? 0)).contains(parts.first ?? 0), "\(place)")
        }
    }

    @Test func rulesAreListed() throws {
        let list = try Program.output("frametap", ["formats"]).text
        for name in BuiltInFormats.names + BuiltInFormats.ruleNames {
            #expect(list.contains("\n\(name) ") || list.hasPrefix("\(name) "), "\(name)")
        }
        #expect(try Program.output("frametap", ["formats", "show", "chunk"]).text.contains("rule: chunk"))
    }

    /// An unknown protocol is reported as such, not as the format with the strongest evidence.
    @Test func whatIsNotRecognisedHasNoFormat() throws {
        let capture = Example(name: "sensors").capturePath
        let result = try Program.output("frametap", ["decode", capture, "--as", "ndjson"])
        #expect(
            !result.text.contains("\"event\":\"format\"") && result.text.contains("\"not-detected\""), "\(result.text)")
    }
}

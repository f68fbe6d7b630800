import Framing
import Streams
import Testing

@Suite struct ProtobufBodyTests {
    private func show(_ data: String) throws -> Shown { try bodies("protobuf").show(bytes(hex: data)) }

    @Test(
        arguments: [
            ("089601", #"{"1":150}"#), ("120774657374696e67", #"{"2":"testing"}"#), ("1a03089601", #"{"3":{"1":150}}"#),
            ("3206038e029ea705", #"{"6":{"hex":"038e029ea705"}}"#),
            ("0801080208ffffffffffffffffff01", #"{"1":[1,2,18446744073709551615]}"#),
            ("0d01000000", #"{"1":{"fixed32":1}}"#), ("09ffffffffffffffff", #"{"1":{"fixed64":18446744073709551615}}"#),
            ("0b089601130c0c", nil), ("0b08960113140c", #"{"1":{"group":{"1":150,"2":{"group":{}}}}}"#),
            ("0a00", #"{"1":""}"#),
            ("08 8180 8080 8080 8080 8001", #"{"1":9223372036854775809}"#),
            ("0a03 0a01 00", #"{"1":{"1":{"hex":"00"}}}"#),
            ("0a02 c3a9", #"{"1":"é"}"#), ("0a02 3038", #"{"1":"08"}"#), ("0a03 610a62", #"{"1":"a\nb"}"#),
            ("f8ffffff0f01", #"{"536870911":1}"#),
        ] as [(String, String?)])
    func isReadByNumberAndWireType(data: String, json: String?) throws {
        let shown = try show(data)
        guard let json else { return #expect(shown.kinds == [.badBody]) }
        #expect(shown == Shown(.protobuf, json))
        #expect(try bodies("protobuf").encode(.protobuf(Array(json.utf8)), type: nil) == bytes(hex: data))
    }

    /// A message that is surely without the names is not read again; what is shown is the same.
    @Test(arguments: [
        #"{"1":"a"}"#, #"{"2":"t"}"#, #"{"12":"x"}"#, #"{"22":"x"}"#, #"{"1":{"2":"x"}}"#, #"{"1":"\"2\":"}"#,
        #"{"1":{"22":1},"2":3}"#, #"{"1":[{"2":1},{"2":[1,2]}]}"#, #"{"2":{"1":{"2":1}}}"#,
    ])
    func secretsAreRedacted(json: String) throws {
        let body = try bodies("protobuf").encode(.protobuf(Array(json.utf8)), type: nil)
        let decoded = try bodies("protobuf").decode(body.span.bytes, type: nil)
        for paths in [
            [["2"]], [["1", "2"]], [["protobuf", "2"]], [["12"], ["22"]], [["é"]], [["2", "1"], ["session"]],
        ] {
            let shown = decoded.redacting(paths, of: body.span.bytes)
            let text = shown.withBytes(of: body.span.bytes) { String(decoding: $0.copied(), as: UTF8.self) }
            var redaction = JSONRedaction(paths + paths.filter { $0[0] == "protobuf" }.map { Array($0.dropFirst()) })
            let all = decoded.withBytes(of: body.span.bytes) { redaction.of($0) }
            #expect(text == all.map { String(decoding: $0, as: UTF8.self) }, "\(paths)")
            #expect(shown.form == .protobuf)
        }
    }

    @Test(arguments: [
        ("08ffffffffffffffffffff01", "longer than ten bytes"), ("08ffffffffffffffffff7f", "does not fit 64 bits"),
        ("08", "ends inside the varint at byte 1"), ("0880", "ends inside the varint"),
        ("0a05 61", "length 5 of field 1"),
        ("0affffffffffffffffff01", "length 18446744073709551615"), ("0affffffff7f", "length"),
        ("09 00", "ends inside the 8"),
        ("0d 0000", "ends inside the 4"), ("00", "field number 0"), ("0c", "end of a group that did not start"),
        ("0b", "ends inside the varint"), ("0b 14", "end of group 2"), ("0e", "wire type 6"), ("0f", "wire type 7"),
        ("f8ffffff1f01", "field number 1073741823"),
    ])
    func whatIsNoMessageIsAFault(data: String, message: String) throws {
        let shown = try show(data)
        #expect(shown.form == .opaque && shown.kinds == [.badBody])
        #expect(try shown.bytes == bytes(hex: data))
        #expect(shown.faults.allSatisfy { $0.message.contains(message) }, "\(shown)")
    }

    @Test func nestingIsLimited() throws {
        let groups = [UInt8](repeating: 0x0b, count: 100_000)
        #expect(try bodies("protobuf").show(groups).faults.first?.message.contains("groups in one another") == true)
        #expect(try bodies("protobuf").show(groups + [UInt8](repeating: 0x0c, count: 100_000)).kinds == [.badBody])
        var nested: [UInt8] = [0x08, 0x01]
        for _ in 0..<40 { nested = [0x0a, UInt8(nested.count)] + nested }
        #expect(
            try bodies("protobuf").show(nested).text == String(repeating: #"{"1":"#, count: 40) + #"{"1":1}"#
                + String(repeating: "}", count: 40))
        // Nested deeper than in practice, they are bytes.
        var deep: [UInt8] = [0x08, 0x01]
        for _ in 0..<100 {
            deep = try bodies("protobuf").encode(.protobuf(Array("{\"1\":{\"hex\":\"\(hex(deep))\"}}".utf8)), type: nil)
        }
        let shown = try bodies("protobuf").show(deep)
        #expect(shown.form == .protobuf && shown.text.contains("hex"))
    }

    @Test func manyFieldsAreAFaultBeforeTheyAreMemory() throws {
        let many =
            [UInt8](repeating: 0, count: 600_000).enumerated().map { $0.offset.isMultiple(of: 2) ? 0x08 : 0x01 }
            as [UInt8]
        #expect(try bodies("protobuf").show(many).faults.first?.message == "more than 262144 fields")
    }

    @Test func hostileBytesAreHarmless() throws {
        let body = try bytes(base64: Self.message)
        expectHostileBodiesAreHarmless(try bodies("protobuf"), body)
        expectHostileBodiesAreHarmless(try named(), body)
        var generator = SeededGenerator(seed: 3)
        let formats = [try bodies("protobuf"), try named()]
        for round in 0..<2_000 {
            let random = (0..<round % 60).map { _ in
                UInt8.random(in: 0...(round.isMultiple(of: 2) ? 255 : 40), using: &generator)
            }
            for format in formats {
                let shown = format.show(random)
                guard shown.form == .protobuf else { continue }
                // A value that was read can be written, and reads back as the same value.
                let again = try format.encode(shown.content, type: nil)
                #expect(format.show(again) == shown, "\(hex(random))")
            }
        }
    }

    // MARK: By name

    private func named(_ options: String = "message: Everything") throws -> BodyFormat {
        let schema = try MessageSchema(descriptorSet: bytes(base64: Self.descriptorSet))
        return try bodies("{ protobuf: { \(options) } }", BodyResources(schema: schema))
    }

    /// Each packed value takes a byte of the body, and much more while it is held.
    @Test func packedValuesAreLimited() throws {
        func packed(_ count: Int) -> [UInt8] {
            var length = count
            var bytes: [UInt8] = [0xc2, 0x01]
            repeat {
                bytes.append(UInt8(length & 0x7f) | (length > 0x7f ? 0x80 : 0))
                length >>= 7
            } while length > 0
            return bytes + [UInt8](repeating: 1, count: count)
        }
        #expect(try named().show(packed(1_000)).kinds.isEmpty)
        #expect(try named().show(packed(262_145)).kinds == [.badBody])
    }

    @Test func whatProtocEncodedIsReadByName() throws {
        let body = try bytes(base64: Self.message)
        let shown = try named().show(body)
        #expect(
            shown
                == Shown(
                    .protobuf,
                    #"{"i32":-1,"i64":-5000000000,"u32":4294967295,"u64":18446744073709551615,"s32":-2,"s64":-3000000000,"#
                        + #""flag":true,"f32":4000000000,"f64":18446744073709551614,"sf32":-7,"sf64":-8,"real":0.1,"#
                        + #""real64":-1.5e+300,"text":"é\n","raw":"00ff","color":"NEGATIVE","inner":{"name":"a","next":"#
                        + #"{"name":"b"}},"packed":[1,-1,300],"texts":["x","y"],"inners":[{"name":"1"},{}],"#
                        + #""floats":[1.5,"-Infinity"],"counts":{"k":3},"byid":{"9":{"name":"n"}},"colors":["GREEN","RED"]}"#
                ))
        #expect(try named().encode(shown.content, type: nil) == body)
        #expect(try named("").show(body, type: "Everything") == shown)
        #expect(try named("messages: { 7: test.Everything }").show(body, type: "7") == shown)
        #expect(try named("messages: { 7: test.Everything }").show(body, type: "8").text.hasPrefix(#"{"1":"#))
    }

    @Test func whatDoesNotFitTheSchemaIsShownByNumber() throws {
        // Field 1 as a fixed32, field 99 unknown, field 14 not UTF-8.
        let shown = try named().show(bytes(hex: "0d01000000 980605 7202fffe"))
        #expect(shown.text == #"{"1":{"fixed32":1},"99":5,"text":"fffe"}"#)
        #expect(try named().show(bytes(hex: "b20101")).kinds == [.badBody])
    }

    @Test func messagesThatTheSetLacksAreRefusedWithTheNearest() throws {
        let error = #expect(throws: BodyResourceError.self) { try named("message: test.Everythin") }
        #expect(error?.description.contains("did you mean test.Everything?") == true)
        #expect(throws: BodyResourceError.self) { try MessageSchema(descriptorSet: [1, 2, 3]) }
        #expect(throws: BodyResourceError.self) { try MessageSchema(descriptorSet: []) }
    }

    @Test(arguments: [
        "1", "[]", #"{"a":1}"#, #"{"0":1}"#, #"{"1":1.5}"#, #"{"1":null}"#, #"{"1":{"hex":"0"}}"#, #"{"1":{"x":1}}"#,
        "{",
    ])
    func whatIsNoMessageCannotBeWritten(json: String) {
        #expect(throws: EncodingError.self) { try bodies("protobuf").encode(.protobuf(Array(json.utf8)), type: nil) }
    }

    /// everything.proto, made by protoc 3.21.12 as --include_imports --descriptor_set_out: every kind of field.
    static let descriptorSet = """
        CsIHChBldmVyeXRoaW5nLnByb3RvEgR0ZXN0Ip8HCgpFdmVyeXRoaW5nEhAKA2kzMhgBIAEoBVIDaTMyEhAKA2k2NBgCIAEoA1ID
        aTY0EhAKA3UzMhgDIAEoDVIDdTMyEhAKA3U2NBgEIAEoBFIDdTY0EhAKA3MzMhgFIAEoEVIDczMyEhAKA3M2NBgGIAEoElIDczY0
        EhIKBGZsYWcYByABKAhSBGZsYWcSEAoDZjMyGAggASgHUgNmMzISEAoDZjY0GAkgASgGUgNmNjQSEgoEc2YzMhgKIAEoD1IEc2Yz
        MhISCgRzZjY0GAsgASgQUgRzZjY0EhIKBHJlYWwYDCABKAJSBHJlYWwSFgoGcmVhbDY0GA0gASgBUgZyZWFsNjQSEgoEdGV4dBgO
        IAEoCVIEdGV4dBIQCgNyYXcYDyABKAxSA3JhdxIsCgVjb2xvchgQIAEoDjIWLnRlc3QuRXZlcnl0aGluZy5Db2xvclIFY29sb3IS
        LAoFaW5uZXIYESABKAsyFi50ZXN0LkV2ZXJ5dGhpbmcuSW5uZXJSBWlubmVyEhYKBnBhY2tlZBgSIAMoBVIGcGFja2VkEhQKBXRl
        eHRzGBMgAygJUgV0ZXh0cxIuCgZpbm5lcnMYFCADKAsyFi50ZXN0LkV2ZXJ5dGhpbmcuSW5uZXJSBmlubmVycxIaCgZmbG9hdHMY
        FSADKAJCAhAAUgZmbG9hdHMSNAoGY291bnRzGBYgAygLMhwudGVzdC5FdmVyeXRoaW5nLkNvdW50c0VudHJ5UgZjb3VudHMSLgoE
        YnlpZBgXIAMoCzIaLnRlc3QuRXZlcnl0aGluZy5CeWlkRW50cnlSBGJ5aWQSLgoGY29sb3JzGBggAygOMhYudGVzdC5FdmVyeXRo
        aW5nLkNvbG9yUgZjb2xvcnMaRwoFSW5uZXISEgoEbmFtZRgBIAEoCVIEbmFtZRIqCgRuZXh0GAIgASgLMhYudGVzdC5FdmVyeXRo
        aW5nLklubmVyUgRuZXh0GjkKC0NvdW50c0VudHJ5EhAKA2tleRgBIAEoCVIDa2V5EhQKBXZhbHVlGAIgASgFUgV2YWx1ZToCOAEa
        TwoJQnlpZEVudHJ5EhAKA2tleRgBIAEoBVIDa2V5EiwKBXZhbHVlGAIgASgLMhYudGVzdC5FdmVyeXRoaW5nLklubmVyUgV2YWx1
        ZToCOAEiMgoFQ29sb3ISBwoDUkVEEAASCQoFR1JFRU4QARIVCghORUdBVElWRRD///////////8BYgZwcm90bzM=
        """

    /// One such message, made by protoc --encode.
    static let message = """
        CP///////////wEQgJzor+3/////ARj/////DyD///////////8BKAMw//eCrRY4AUUAKGvuSf7/////////Vfn///9Z+P//////
        //9lzczMPWk1WABmLetB/nIDw6kKegIA/4AB////////////AYoBCAoBYRIDCgFikgENAf///////////wGsApoBAXiaAQF5ogED
        CgExogEArQEAAMA/rQEAAID/sgEFCgFrEAO6AQcICRIDCgFuwgECAQA=
        """
}

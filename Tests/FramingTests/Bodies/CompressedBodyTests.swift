import Framing
import Streams
import Testing

@Suite struct CompressedBodyTests {
    private static let plain = #"{"a": [1, 2.5e3, "é心\n"], "b": null}"#

    /// Made by Python's zlib and gzip modules, and by the program zstd.
    private static let golden = [
        (
            "zlib",
            "789cab564a54b2528836d45130d2334d35d651503abcf2e9fee6983ca558203b092897579a93530b00e4950c4e"
        ),
        (
            "gzip",
            "1f8b08000000000002ffab564a54b2528836d45130d2334d35d651503abcf2e9fee6983ca558203b092897579a93530b007971b9a3"
                + "27000000"
        ),
        ("deflate", "ab564a54b2528836d45130d2334d35d651503abcf2e9fee6983ca558203b092897579a93530b00"),
        (
            "zstd",
            "28b52ffd04583901007b2261223a205b312c20322e3565332c2022c3a9e5bf835c6e225d2c202262223a206e756c6c7d981a"
                + "fcfb"
        ),
    ]

    @Test(arguments: golden)
    func whatPythonCompressedIsRead(name: String, data: String) throws {
        let body = try bytes(hex: data)
        #expect(try bodies("[\(name), text]").show(body) == Shown(.text, Self.plain))
        #expect(try bodies("[\(name), json]").show(body) == Shown(.json, #"{"a":[1,2.5e3,"é心\n"],"b":null}"#))
        expectHostileBodiesAreHarmless(try bodies("[\(name), json]"), body)
        for count in 1..<body.count {
            #expect(try bodies("[\(name), text]").show(Array(body.prefix(count))).kinds == [.badBody], "\(count)")
        }
    }

    @Test func changedDataAreNoticedByTheirChecks() throws {
        for (name, data) in Self.golden where name == "zlib" || name == "gzip" {
            let body = try bytes(hex: data)
            let format = try bodies("[\(name), text]")
            for at in body.indices.dropFirst(name == "gzip" ? 10 : 2) {
                var changed = body
                changed[at] ^= 0x10
                let shown = format.show(changed)
                // The compressed data ends inside a byte, whose remaining bits have no meaning.
                #expect(shown.kinds == [.badBody] || shown.text == Self.plain, "\(name) \(at)")
            }
        }
    }

    @Test func aBombIsAFaultAndCostsNoMoreThanTheLimit() throws {
        for (name, size) in [("zlib", 1 << 20), ("gzip", 1 << 20), ("deflate", 1 << 20), ("zstd", 17 << 20)] {
            let bomb = try bodies(name).encode(.bytes([UInt8](repeating: 0, count: size)), type: nil)
            #expect(bomb.count < size / 500)
            let isOver = size > 16 << 20
            // 17 MiB take long: the default limit and a higher one suffice.
            let limits = [("", isOver), ("limit: \(size)", false)] + (isOver ? [] : [("limit: \(size - 1)", true)])
            for (limit, isBomb) in limits {
                let shown = try bodies("{ \(name): { \(limit) } }").show(bomb)
                #expect(shown.bytes.count == (isBomb ? bomb.count : size), "\(name), \(limit)")
                #expect(shown.kinds == (isBomb ? [.badBody] : []), "\(name), \(limit)")
                guard isBomb else { continue }
                #expect(shown.form == .opaque && shown.bytes == bomb)
                let most = limit.isEmpty ? 16 << 20 : size - 1
                #expect(shown.faults.first?.message == "more than \(most) bytes come out")
            }
        }
    }

    @Test func gzipMayHaveSeveralMembersAndNothingElseAfterThem() throws {
        let member = try bytes(hex: Self.golden[1].1)
        #expect(try bodies("[gzip, text]").show(member + member) == Shown(.text, Self.plain + Self.plain))
        #expect(try bodies("[gzip, text]").show(member + [0]).kinds == [.badBody])
        let zlib = try bytes(hex: Self.golden[0].1)
        #expect(try bodies("[zlib, text]").show(zlib + zlib).kinds == [.badBody])
    }
}

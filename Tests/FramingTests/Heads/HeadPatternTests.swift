import Streams
import Testing

@testable import Framing

/// What a pattern finds in a head is what scanning it finds; heads unlike the model are left to the scan.
@Suite struct HeadPatternTests {
    private let name = JSONMemberName("size")
    private let ending = Array("\r\n".utf8)

    /// The place of the member according to a scan of the whole head; nil if the head is none.
    private func scanned(_ head: [UInt8]) -> Range<Int>? {
        guard (try? JSONValue(parsing: head.span.bytes)) != nil else { return nil }
        return JSONHead.place(of: name, in: head.span.bytes)
    }

    private func matched(_ head: [UInt8], like model: [UInt8], behind: [UInt8] = []) -> (value: Range<Int>, end: Int)? {
        guard let pattern = HeadPattern((model + ending).span.bytes, name) else { return nil }
        let bytes = behind + head + ending + Array("the body".utf8)
        let whole = model + ending
        return pattern.match(bytes.span.bytes, at: behind.count, model: whole.span.bytes)
    }

    private func random(_ count: Int, using generator: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    private func value(using generator: inout SeededGenerator) -> String {
        let texts = [
            "", "a", "Hello", "size", "\\\"", "caf\u{e9}", "a longer text than a word has", "{", "\\u0041", ":",
        ]
        return switch Int.random(in: 0..<12, using: &generator) {
        case 0..<5: "\"\(texts[Int.random(in: 0..<texts.count, using: &generator)])\""
        case 5..<9: "\(Int.random(in: 0...1_000, using: &generator))"
        case 9: ["-1", "0", "1.5", "1e3", "00", "01"][Int.random(in: 0..<6, using: &generator)]
        case 10: ["true", "null", "[]", "{\"size\":1}", "[1, \"x\"]"][Int.random(in: 0..<5, using: &generator)]
        default: "\"\(Int.random(in: 0...99, using: &generator))\""
        }
    }

    private func head(_ keys: [String], _ spaces: [String], using generator: inout SeededGenerator) -> [UInt8] {
        let members = keys.map { "\(spaces[0])\"\($0)\"\(spaces[1]):\(spaces[1])\(value(using: &generator))" }
        return Array("{\(members.joined(separator: ","))\(spaces[2])}".utf8)
    }

    @Test func aMatchIsWhatAScanFinds() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var (matches, others) = (0, 0)
        for _ in 0..<4_000 {
            let all = ["size", "type", "CinentID", "x", "siz\\u0065", "size", "a", "b", "c", "d", "e"]
            let keys = (0..<Int.random(in: 1...10, using: &generator)).map { _ in
                all[Int.random(in: 0..<all.count, using: &generator)]
            }
            let spaces = (0..<3).map { _ in ["", " ", "\n  "][Int.random(in: 0..<3, using: &generator)] }
            let model = head(keys, spaces, using: &generator)
            // A model is a head that was accepted.
            guard scanned(model) != nil else { continue }
            for _ in 0..<4 {
                var other = head(keys, spaces, using: &generator)
                if Int.random(in: 0..<4, using: &generator) == 0 {
                    other[Int.random(in: other.indices, using: &generator)] =
                        UInt8.random(in: 0...127, using: &generator)
                }
                let behind = random(Int.random(in: 0...9, using: &generator), using: &generator)
                // Whether they are UTF-8 is for others to check.
                guard other.span.bytes.firstInvalidUTF8() == nil else { continue }
                guard let (place, end) = matched(other, like: model, behind: behind) else {
                    others += 1
                    continue
                }
                matches += 1
                let expected = scanned(other).map { $0.lowerBound + behind.count..<$0.upperBound + behind.count }
                let text = String(decoding: other, as: UTF8.self)
                #expect(place == expected, "seed \(seed), \(text)")
                #expect(end == behind.count + other.count + 2, "seed \(seed), \(text)")
            }
        }
        #expect(matches > 100 && others > 100, "seed \(seed): \(matches), \(others)")
    }

    @Test func valuesAloneMayDiffer() {
        let model = Array("{\"type\":\"txt\",\"size\":\"5\",\"n\":7,\"last\":true}".utf8)
        func isLike(_ text: String) -> Bool { matched(Array(text.utf8), like: model) != nil }
        #expect(isLike("{\"type\":\"\",\"size\":\"12345\",\"n\":0,\"last\":true}"))
        #expect(isLike("{\"type\":\"a long text, as long as some\",\"size\":\"\",\"n\":123,\"last\":true}"))
        for other in [
            "{\"type\":\"txt\",\"size\":\"5\",\"n\":7,\"last\":null}",
            "{\"type\":\"txt\",\"size\":5,\"n\":7,\"last\":true}",
            "{\"type\":\"txt\",\"size\":\"5\",\"n\":07,\"last\":true}",
            "{\"type\":\"txt\",\"size\":\"5\",\"n\":-7,\"last\":true}",
            "{\"type\":\"t\\\"\",\"size\":\"5\",\"n\":7,\"last\":true}",
            "{\"type\":\"t\n\",\"size\":\"5\",\"n\":7,\"last\":true}",
            "{\"tipe\":\"txt\",\"size\":\"5\",\"n\":7,\"last\":true}",
            "{\"type\":\"txt\",\"size\":\"5\",\"n\":7,\"last\":true,\"size\":\"6\"}",
            "{\"type\":\"txt\",\"size\":\"5\",\"n\":,\"last\":true}",
        ] {
            #expect(!isLike(other), "\(other)")
        }
    }

    /// Many heads of few kinds, whole or cut at any place: the frames are those that scans alone find.
    @Test(arguments: ["\r\n", "--"]) func framesAreTheSame(ends: String) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let ending = Array(ends.utf8)
        // A value may contain other ends: then heads are scanned.
        let isFast = ends == "\r\n"
        let rule = HeadAndBody(
            head: JSONHead(sizeField: "size"), delimiter: ending, sizeField: "size", limit: 300, headLimit: 120)
        var framed = 0
        for _ in 0..<300 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 1...12, using: &generator) {
                let size = Int.random(in: 0...40, using: &generator)
                let text = ["", "hi", "caf\u{e9}", "\\u0041", "a--b"][Int.random(in: 0..<5, using: &generator)]
                let head = [
                    "{\"type\":\"\(text)\",\"size\":\"\(size)\"}", "{ \"size\" : \(size) }",
                    "{\"type\":\"\(text)\",\"to\":\"\(text)\",\"size\":\(size)}",
                    "{\"type\":\"\(text)\",\"size\":\"9999\"}",
                ][Int.random(in: 0..<14, using: &generator) % 4]
                bytes += Array(head.utf8) + ending + random(size, using: &generator)
            }
            bytes.removeLast(Int.random(in: 0...min(bytes.count - 1, 30), using: &generator))
            if Int.random(in: 0..<5, using: &generator) == 0 {
                bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            let patterns = HeadPatterns()
            for _ in 0..<2 {
                var (memory, items) = (ScanMemory(), [FrameItem]())
                let run = rule.frames(
                    in: bytes.span.bytes, from: 0, origin: 0, memory: &memory, patterns, into: &items)
                var (at, expected, scanning) = (0, [FrameShape](), ScanMemory())
                var next: FrameShape?
                while at < bytes.count,
                    case .shape(let shape) = rule.scan(
                        bytes.span.bytes, from: at, origin: 0, ended: false, memory: &scanning)
                {
                    guard at + shape.total <= bytes.count else {
                        next = shape
                        break
                    }
                    expected.append(shape)
                    at += shape.total
                }
                #expect(items.map(\.shape) == (isFast ? expected : []), "seed \(seed)")
                #expect(run.end == (isFast ? at : 0), "seed \(seed)")
                #expect(run.next == (isFast ? next : nil), "seed \(seed)")
                framed += expected.count
            }
        }
        #expect(framed > 400, "seed \(seed)")
    }
}

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

    private func matched(_ head: [UInt8], like model: [UInt8], after: [UInt8] = []) -> (value: Range<Int>, end: Int)? {
        guard let pattern = HeadPattern((model + ending).span.bytes, name) else { return nil }
        let bytes = after + head + ending + Array("the body".utf8)
        let whole = model + ending
        return pattern.match(bytes.span.bytes, at: after.count, model: whole.span.bytes)
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
                let after = random(Int.random(in: 0...9, using: &generator), using: &generator)
                // Whether they are UTF-8 is for others to check.
                guard other.span.bytes.firstInvalidUTF8() == nil else { continue }
                guard let (place, end) = matched(other, like: model, after: after) else {
                    others += 1
                    continue
                }
                matches += 1
                let expected = scanned(other).map { $0.lowerBound + after.count..<$0.upperBound + after.count }
                let text = String(decoding: other, as: UTF8.self)
                #expect(place == expected, "seed \(seed), \(text)")
                #expect(end == after.count + other.count + 2, "seed \(seed), \(text)")
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

    /// Heads of a few kinds, with bodies, the last one cut at any place; sometimes a byte is changed.
    private func stream(_ ending: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        let long = String(repeating: "x", count: Int.random(in: 60...120, using: &generator))
        for _ in 0..<Int.random(in: 1...12, using: &generator) {
            let size = Int.random(in: 0...40, using: &generator)
            let texts = ["", "hi", "hi", "hi", "caf\u{e9}", "\\u0041", "a--b", long]
            let text = texts[Int.random(in: texts.indices, using: &generator)]
            let heads = [
                "{\"type\":\"\(text)\",\"size\":\"\(size)\"}", "{ \"size\" : \(size) }",
                "{\"type\":\"\(text)\",\"to\":\"\(text)\",\"size\":\(size)}",
                "{\"type\":\"\(text)\",\"size\":\"\(size)\"}", "{ \"size\" : \(size) }",
                "{\"type\":\"\(text)\",\"size\":\"00000000\(size)\"}",
            ]
            let isBad = Int.random(in: 0..<16, using: &generator) == 0
            let head =
                isBad ? "{\"type\":\"\",\"size\":\"9999\"}" : heads[Int.random(in: heads.indices, using: &generator)]
            bytes += Array(head.utf8) + ending + random(size, using: &generator)
        }
        bytes.removeLast(Int.random(in: 0...min(bytes.count - 1, 30), using: &generator))
        if Int.random(in: 0..<5, using: &generator) == 0 {
            bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        return bytes
    }

    /// The frames are those that scans alone find, whether all bytes are there or come piece by piece.
    @Test(arguments: ["\r\n", "--"]) func framesAreTheSame(ends: String) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let ending = Array(ends.utf8)
        // A value may contain other ends: then heads are scanned.
        let isFast = ends == "\r\n"
        let rule = HeadAndBody(
            head: JSONHead(sizeField: "size"), delimiter: ending, sizeField: "size", limit: 160, headLimit: 120)
        let patterns = HeadPatterns()
        var framed = 0
        for round in 0..<600 {
            let after = random(Int.random(in: 0...9, using: &generator), using: &generator)
            let bytes = after + stream(ending, using: &generator)
            let origin = Int.random(in: 0...1_000, using: &generator)
            var (at, expected, scanning) = (after.count, [FrameShape](), ScanMemory())
            var next: FrameShape?
            while at < bytes.count,
                case .shape(let shape) = rule.scan(
                    bytes.span.bytes, from: at, origin: origin, ended: false, memory: &scanning)
            {
                next = at + shape.total > bytes.count ? shape : nil
                if next != nil { break }
                expected.append(shape)
                at += shape.total
            }
            var (memory, items, seen) = (ScanMemory(), [FrameItem](), after.count)
            var run = FrameRun(end: after.count)
            repeat {
                let most = round % 2 == 0 ? bytes.count : 30
                seen = min(bytes.count, seen + Int.random(in: 1...most, using: &generator))
                run = rule.frames(
                    in: bytes.span.bytes.extracting(0..<seen), from: run.end, origin: origin, memory: &memory, patterns,
                    into: &items)
            } while seen < bytes.count
            #expect(items.map(\.shape) == (isFast ? expected : []), "seed \(seed), round \(round)")
            #expect(run.end == (isFast ? at : after.count), "seed \(seed), round \(round)")
            #expect(run.next == (isFast ? next : nil), "seed \(seed), round \(round)")
            framed += expected.count
        }
        #expect(framed > 400, "seed \(seed)")
    }

    /// A peer whose heads are like a known one but must be scanned does not make others forgotten.
    @Test func headsThatMatchAreNotLearnedAgain() throws {
        let rule = HeadAndBody(
            head: JSONHead(sizeField: "size"), delimiter: ending, sizeField: "size", limit: 300, headLimit: 120)
        let patterns = HeadPatterns()
        func frame(_ text: String) {
            var (memory, items) = (ScanMemory(), [FrameItem]())
            let bytes = Array(text.utf8) + ending + [1, 2]
            _ = rule.frames(in: bytes.span.bytes, from: 0, origin: 0, memory: &memory, patterns, into: &items)
            #expect(items.count == 1, "\(text)")
        }
        func isKnown(_ text: String) -> Bool {
            let bytes = Array(text.utf8) + ending
            return patterns.match(bytes.span.bytes, at: 0) != nil
        }
        let other = "{\"type\":\"a\",\"size\":\"2\"}"
        frame(other)
        for _ in 0..<10 { frame("{\"size\":\"0000000002\"}") }
        #expect(isKnown(other))
        // One that matches now and then outlasts those that never come again.
        for number in 0..<12 {
            frame("{\"\(number)\":1,\"size\":\"2\"}")
            #expect(isKnown(other), "\(number)")
        }
    }

    /// A head that comes in pieces is left to the scan, which searches no byte twice: to compare it with others for each of its pieces
    /// would take quadratic time.
    @Test(arguments: [1, 5, 12]) func aHeadInPiecesIsLeftToTheScan(piece: Int) {
        let rule = HeadAndBody(
            head: JSONHead(sizeField: "size"), delimiter: ending, sizeField: "size", limit: 300, headLimit: 120)
        let patterns = HeadPatterns()
        let bytes = Array("{\"type\":\"a\",\"size\":\"2\"}".utf8) + ending + [1, 2]
        var (memory, items, seen) = (ScanMemory(), [FrameItem](), 0)
        while seen < bytes.count {
            seen = min(seen + piece, bytes.count)
            _ = rule.frames(
                in: bytes.span.bytes.extracting(0..<seen), from: 0, origin: 0, memory: &memory, patterns, into: &items)
        }
        #expect(items.count == 1)
        #expect(patterns.match(bytes.span.bytes, at: 0) == nil)
    }
}

import Framing
import Streams
import TestSupport
import Testing

@testable import Torture

/// The words for the place of a cut.
@Suite struct FrameAnatomyTests {
    /// The places of one frame's cuts, in words.
    private func texts(_ header: String, _ frame: [UInt8]) throws -> [String] {
        let format = try FormatLoader.load(
            """
            format: test
            header: \(header)
            framing: { rule: length-field, field: size, counts: body }
            body: text
            """, file: "test.yaml")
        let anatomies = AnatomyReading.anatomies(of: [frame], format, from: .fromClient)
        return anatomies.flatMap { anatomy in
            (1..<frame.count).map { anatomy.text(at: $0, of: "it") }
        }
    }

    /// A number or bytes in a field are bytes, whatever they look like; a text has digits or characters.
    @Test(arguments: [
        ("u32", "byte"), ("i32", "byte"), ("f32", "byte"), ("{ type: bytes, size: 4 }", "byte"),
        ("{ type: string, size: 4 }", "character"),
    ])
    func theUnitIsThatOfTheField(_ type: String, _ unit: String) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let bytes = (0..<4).map { _ in UInt8.random(in: 0x41...0x5a, using: &generator) }
            let texts = try texts("[{ tag: \(type) }, { size: u8 }]", bytes + [1, 0x61])
            let wanted = ["1st", "2nd", "3rd"].map { "`tag` of it is split after its \($0) \(unit)" }
            #expect(Array(texts.prefix(3)) == wanted, "seed \(seed)")
        }
    }

    @Test func onlyTextHasDigitsAndCharactersOfSeveralBytes() throws {
        for (bytes, text) in [
            (Array("1234".utf8), "after its 1st digit"), (Array("éé".utf8), "inside a character of 2 bytes"),
        ] {
            let string = try texts("[{ tag: { type: string, size: 4 } }, { size: u8 }]", bytes + [0])
            #expect(string.first == "`tag` of it is split \(text)")
            let number = try texts("[{ tag: u32 }, { size: u8 }]", bytes + [0])
            #expect(number.first == "`tag` of it is split after its 1st byte")
        }
    }

    /// A frame is cut everywhere, but a large one only near its ends and at some places between them.
    @Test func theNumberOfCutsIsBounded() {
        func places(_ count: Int) -> [Int] { FrameAnatomy([UInt8](repeating: 0, count: count)).places }
        let most = FrameAnatomy.mostPlaces
        #expect(places(most) == Array(1..<most))
        let large = places(1 << 20)
        #expect(large.count <= most + 64 && large.first == 1 && large.last == (1 << 20) - 1, "\(large.count)")
    }
}

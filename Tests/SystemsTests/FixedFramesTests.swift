import Framing
import Streams
import Testing

@testable import Systems

@Suite struct FixedFramesTests {
    @Test func theWriteUpsArrayIsSevenFramesAndTwoBytes() throws {
        var reader = FrameReader(try wireFormat("fixed"), from: .fromClient)
        let inputs = TestArray.mixed.parts.flatMap { reader.receive($0.span.bytes, at: at(0)) } + reader.finish()
        #expect(texts(inputs) == [String](repeating: "abcd", count: 7))
        guard case .unframed(2, _)? = inputs.last else {
            Issue.record("\(inputs)")
            return
        }
        #expect(TestArray.mixed.echo.count == 28)
    }

    @Test func everyFrameIsEchoed() throws {
        var server = FixedEcho(try setup(FixedFrames.self))
        #expect(
            deeds(server.take(frame("abcd"), on: 1, at: at(0))) == [
                .send(.bytes(Array("abcd".utf8)), connection: 1)
            ])
    }

    @Test func countingCharactersDoesNotMatterForASCII() {
        for array in TestArray.all {
            let whole = read(array.parts, with: CharacterCounter())
            #expect(whole.map { texts([$0]).joined() } == [String](repeating: "abcd", count: array.echo.count / 4))
        }
    }

    @Test func countingCharactersGoesWrongBeyondIt() throws {
        let parts = TestArray.beyondASCII.parts
        #expect(
            texts(read(parts, with: FrameReader(try wireFormat("fixed"), from: .fromClient))) == ["abcd", "设x", "abcd"])
        #expect(
            texts(read(parts, with: CharacterCounter())) == ["abcd", "设xab"], "frames of six and of what is left over")
    }

    @Test func aCharacterThatIsCutWaits() {
        let bytes = Array("设设设设".utf8)
        #expect(texts(read([Array(bytes[..<4]), Array(bytes[4...])], with: CharacterCounter())) == ["设设设设"])
    }
}

import Framing
import Streams
import Testing

@testable import Systems

@Suite struct FrameCodecTests {
    private let format: Format
    private let hello = ChatMessage(text: "Hello", from: "CinentA", to: "CinentB").frame(from: .fromClient)

    init() throws {
        format = try #require(try BuiltInFormats.format(named: "im-json"))
    }

    private func inputs(_ chunks: [ArraySlice<UInt8>]) -> [PeerInput] {
        var codec = FrameCodec(format, sending: .fromServer)
        var inputs: [PeerInput] = []
        for chunk in chunks {
            let bytes = Array(chunk)
            inputs += codec.reader.receive(bytes.span.bytes, at: Timestamp(nanoseconds: 0))
        }
        return inputs + codec.reader.finish()
    }

    /// A codec's encoding of a message: the size is in the head, and heads list their fields by name.
    private func received(_ message: PeerMessage) -> PeerInput {
        let size = Field("size", .text(String(message.body.count)))
        return .message(
            PeerMessage(fields: (message.fields + [size]).sorted { $0.name < $1.name }, body: message.body))
    }

    @Test func whatOneSideEncodesTheOtherDecodesHoweverItIsCut() throws {
        let image = ChatMessage(
            type: "img", sender: "CinentA", target: "CinentB", body: Picture.jpeg(byteCount: 400)
        ).frame(from: .fromClient)
        let bytes = try FrameCodec(format, sending: .fromClient).encode(.messages([hello, image, hello]))
        #expect(bytes.count > 95 * 2 + 400)
        for cut in 0..<bytes.count {
            let chunks = [bytes[..<cut], bytes[cut...]].filter { !$0.isEmpty }
            #expect(inputs(chunks) == [received(hello), received(image), received(hello)])
        }
    }

    @Test func badBytesAndAnUnfinishedFrameAreSaidWithTheirPlace() throws {
        let bytes = try FrameCodec(format, sending: .fromClient).encode(.messages([hello]))
        let found = inputs([Array("nonsense".utf8)[...], bytes[...], bytes[..<20]])
        #expect(found.count == 3)
        guard case .unframed(8, let first)? = found.first, case .unframed(20, let last)? = found.last else {
            Issue.record("\(found)")
            return
        }
        #expect(first.hasPrefix("bad-head at 0: "))
        #expect(last.hasPrefix("incomplete at 103: "))
    }

    @Test func aSessionMakesOneWriteOfEachOutput() throws {
        var session = PeerSession(ChatClient(try setup(ChatRelay.self), name: "CinentA"))
        _ = session.opened(1, by: "", at: at(0))
        let (hello, format) = (hello, format)
        let twice = session.change { _ in [.send(.messages([hello, hello])), .send(.bytes([1, 2]))] }
        guard case .send(.bytes(let bytes), 1) = twice[0] else {
            Issue.record("\(twice)")
            return
        }
        #expect(bytes.count == 190)
        #expect(twice[1...] == [.send(.bytes([1, 2]))])

        let message = ChatMessage(text: "I", from: "CinentB")
        let answer = try FrameCodec(format, sending: .fromServer)
            .encode(.messages([message.frame(from: .fromServer)]))
        #expect(session.received(answer.dropLast(), on: 1, at: at(1)) == [])
        #expect(
            said(session.received(answer.suffix(1), on: 1, at: at(1))) == "CinentA got txt from CinentB, 1 B: \"I\"")
    }
}

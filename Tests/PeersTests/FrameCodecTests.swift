import Framing
import NIOCore
import NIOEmbedded
import Streams
import Testing

@testable import Peers

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
            inputs += codec.receive(bytes.span.bytes, at: Timestamp(nanoseconds: 0))
        }
        return inputs + codec.finish()
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

    @Test func theHandlerMakesOneWriteOfEachOutput() throws {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(
            FrameCodecHandler(FrameCodec(format, sending: .fromClient)))
        try channel.writeOutbound(PeerOutput.messages([hello, hello]))
        #expect(try channel.readOutbound(as: ByteBuffer.self)?.readableBytes == 190)
        #expect(try channel.readOutbound(as: ByteBuffer.self) == nil)
        try channel.writeOutbound(PeerOutput.bytes([1, 2]))
        #expect(try channel.readOutbound(as: ByteBuffer.self) == ByteBuffer(bytes: [1, 2]))

        let answer = ChatMessage(text: "I", from: "CinentB").frame(from: .fromServer)
        let bytes = try FrameCodec(format, sending: .fromServer).encode(.messages([answer]))
        try channel.writeInbound(ByteBuffer(bytes: bytes.dropLast()))
        #expect(try channel.readInbound(as: PeerInput.self) == nil)
        try channel.writeInbound(ByteBuffer(bytes: bytes.suffix(1)))
        #expect(try channel.readInbound(as: PeerInput.self) == received(answer))
        _ = try channel.finish()
    }
}

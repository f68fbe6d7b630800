import Framing
import NIOCore
import Streams

/// Bytes to messages and back, by a format. Holds a partial frame, and does no I/O.
package struct FrameCodec {
    private var framer: Framer
    private let incoming: DirectionFormat
    private let outgoing: DirectionFormat
    private let scratch = FramingScratch()

    /// A codec at the start of a connection, for the side that sends `direction`'s frames.
    package init(_ format: Format, sending direction: Direction) {
        incoming = format.directions[direction.opposite]
        outgoing = format.directions[direction]
        framer = Framer(rule: incoming.rule, direction: direction.opposite, aligned: true)
    }

    /// What the next bytes complete. `time` never decreases.
    package mutating func receive(_ bytes: RawSpan, at time: Timestamp) -> [PeerInput] {
        let inputs = Inputs(incoming)
        framer.receive(bytes, at: time, packet: 0, scratch: scratch, into: inputs)
        return inputs.list
    }

    /// What is left when the stream ends.
    package mutating func finish() -> [PeerInput] {
        let inputs = Inputs(incoming)
        framer.finish(scratch: scratch, into: inputs)
        return inputs.list
    }

    /// The bytes of one write.
    package func encode(_ output: PeerOutput) throws(EncodingError) -> [UInt8] {
        switch output {
        case .bytes(let bytes): return bytes
        case .messages(let messages):
            var bytes: [UInt8] = []
            for message in messages { bytes += try outgoing.encode(message.fields, body: message.body) }
            return bytes
        }
    }

    /// Collects what a framer gives away during one call.
    private final class Inputs: FrameReceiver {
        private let format: DirectionFormat
        var list: [PeerInput] = []

        init(_ format: DirectionFormat) {
            self.format = format
        }

        func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
            format.withContent(of: bytes, frame.shape) { content, shape in
                let body = content.copied(shape.head..<shape.head + shape.body)
                list.append(.message(PeerMessage(fields: format.fields(of: content, shape), body: body)))
            }
        }

        func unframed(_ run: UnframedRun, from direction: Direction) {
            list.append(
                .unframed(byteCount: run.bytes.count, detail: "\(run.reason.rawValue) at \(run.offset): \(run.detail)"))
        }

        func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
    }
}

/// Puts a `FrameCodec` into a channel's pipeline.
final class FrameCodecHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = PeerInput
    typealias OutboundIn = PeerOutput
    typealias OutboundOut = ByteBuffer

    private var codec: FrameCodec

    init(_ codec: FrameCodec) {
        self.codec = codec
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        guard buffer.readableBytes > 0 else { return }
        for input in codec.receive(buffer.readableBytesSpan, at: .monotonic) {
            context.fireChannelRead(wrapInboundOut(input))
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        for input in codec.finish() { context.fireChannelRead(wrapInboundOut(input)) }
        context.fireChannelInactive()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        do {
            let bytes = try codec.encode(unwrapOutboundIn(data))
            context.write(wrapOutboundOut(context.channel.allocator.buffer(bytes: bytes)), promise: promise)
        } catch {
            promise?.fail(error)
            context.fireErrorCaught(error)
        }
    }
}

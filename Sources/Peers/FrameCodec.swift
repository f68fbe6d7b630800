import Framing
import NIOCore
import Streams

/// Converts bytes to messages and back, according to a format. Holds a partial frame, and does no I/O.
package struct FrameCodec {
    private var reader: any MessageReader
    private let outgoing: DirectionFormat

    /// A codec at the start of a connection, for the side that sends `direction`'s frames.
    ///
    /// - Parameter reader: replaces `FrameReader`, such as with a published receiver and its faults.
    package init(_ format: Format, sending direction: Direction, reader: (any MessageReader)? = nil) {
        outgoing = format.directions[direction]
        self.reader = reader ?? FrameReader(format, from: direction.opposite)
    }

    /// The messages that the next bytes complete. `time` never decreases.
    package mutating func receive(_ bytes: RawSpan, at time: Timestamp) -> [PeerInput] {
        reader.receive(bytes, at: time)
    }

    /// When it stops waiting for the rest of a frame; nil if it waits forever.
    package var deadline: Timestamp? { reader.deadline }

    /// The messages that are complete because nothing more arrived until `time`.
    package mutating func pause(until time: Timestamp) -> [PeerInput] { reader.pause(until: time) }

    /// The remainder when the stream ends.
    package mutating func finish() -> [PeerInput] { reader.finish() }

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
}

/// Puts a `FrameCodec` into a channel's pipeline.
final class FrameCodecHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = PeerInput
    typealias OutboundIn = PeerOutput
    typealias OutboundOut = ByteBuffer

    private var codec: FrameCodec
    private var pause: Scheduled<Void>?

    init(_ codec: FrameCodec) {
        self.codec = codec
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let buffer = unwrapInboundIn(data)
        guard buffer.readableBytes > 0 else { return }
        pass(codec.receive(buffer.readableBytesSpan, at: .monotonic), context)
        awaitPause(context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        pause?.cancel()
        pass(codec.finish(), context)
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

    private func pass(_ inputs: [PeerInput], _ context: ChannelHandlerContext) {
        for input in inputs { context.fireChannelRead(wrapInboundOut(input)) }
    }

    /// Makes sure that a frame that only a pause can end is ended by one.
    private func awaitPause(_ context: ChannelHandlerContext) {
        pause?.cancel()
        guard let deadline = codec.deadline else { return }
        let wait = max(deadline - .monotonic, Interval(nanoseconds: 0))
        pause = context.eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(wait) + .milliseconds(1)) { [self] in
            pass(codec.pause(until: .monotonic), context)
            context.fireChannelReadComplete()
            awaitPause(context)
        }
    }
}

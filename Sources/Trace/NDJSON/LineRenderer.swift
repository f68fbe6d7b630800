import Framing
import Streams

/// Writes the lines of batches. Each thread has its own: what is learned of frames' kinds is not shared.
package final class LineRenderer {
    private let writer: NDJSONWriter
    private var kinds: [PerDirection<FrameKinds>] = []

    /// - Parameter bodyLimit: at most how many bytes of a decoded body are shown.
    package init(bodyLimit: Int) { writer = NDJSONWriter(bodyLimit: bodyLimit) }

    /// Puts the lines of a batch into its `lines`.
    package func render(_ batch: LineBatch) {
        for format in batch.formats.dropFirst(kinds.count) {
            kinds.append(
                PerDirection(fromClient: FrameKinds(format, .fromClient), fromServer: FrameKinds(format, .fromServer)))
        }
        swap(&writer.output.bytes, &batch.lines)
        var (start, written, done) = (0, 0, 0)
        let (bytes, text) = (batch.bytes, batch.text)
        var frames: [LineBatch.Frame] = []
        swap(&frames, &batch.frames)
        for next in batch.texts {
            while done < next.framesBefore { put(&frames[done], bytes.span.bytes, &start, &done) }
            writer.output.bytes.append(contentsOf: text.span.bytes.extracting(written..<next.end))
            written = next.end
        }
        while done < frames.count { put(&frames[done], bytes.span.bytes, &start, &done) }
        swap(&frames, &batch.frames)
        swap(&writer.output.bytes, &batch.lines)
    }

    @inline(__always)
    private func put(_ next: inout LineBatch.Frame, _ bytes: RawSpan, _ start: inout Int, _ done: inout Int) {
        let content = bytes.extracting(start..<next.end)
        let isOfClient = next.frame.direction == .fromClient
        let kinds = isOfClient ? kinds[next.format].fromClient : kinds[next.format].fromServer
        // Numbers of kinds are those of who learned them.
        if next.frame.kind != nil { next.frame.kind = kinds.kind(of: content, next.frame.shape) }
        writer.write(next.frame, content, kinds, of: next.connection)
        (start, done) = (next.end, done + 1)
    }
}

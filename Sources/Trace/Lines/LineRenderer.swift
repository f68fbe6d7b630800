import Framing
import Streams

/// Writes the lines of batches. Each thread has its own: what is learned of frames' kinds is not shared.
package final class LineRenderer {
    private let writer: any LineWriter
    private var kinds: [PerDirection<FrameKinds>] = []

    /// A renderer of lines in a form.
    package init(_ form: LineForm) { writer = form.frameWriter() }

    /// Puts the lines of a batch into its `lines`.
    package func render(_ batch: LineBatch) {
        for format in batch.formats.dropFirst(kinds.count) {
            kinds.append(
                PerDirection(fromClient: FrameKinds(format, .fromClient), fromServer: FrameKinds(format, .fromServer)))
        }
        // Swapped out of the batch and into the writer, so that nothing is copied or retained for each frame.
        var lines: [UInt8] = []
        swap(&lines, &batch.lines)
        swap(&lines, &writer.lines)
        if let state = batch.content.state { writer.state = state }
        let (bytes, text) = (batch.content.bytes, batch.content.text)
        var frames: [LineBatch.Frame] = []
        swap(&frames, &batch.content.frames)
        var (start, written, done) = (0, 0, 0)
        for next in batch.content.texts {
            put(&frames, from: &done, to: next.framesBefore, bytes.span.bytes, &start)
            writer.lines.append(contentsOf: text.span.bytes.extracting(written..<next.end))
            written = next.end
            if let state = next.state { writer.state = state }
        }
        put(&frames, from: &done, to: frames.count, bytes.span.bytes, &start)
        swap(&frames, &batch.content.frames)
        swap(&lines, &writer.lines)
        swap(&lines, &batch.lines)
    }

    private func put(
        _ frames: inout [LineBatch.Frame], from done: inout Int, to end: Int, _ bytes: RawSpan, _ start: inout Int
    ) {
        while done < end {
            // What is known of frames is looked up once for those of a side that follow one another.
            let (format, direction) = (frames[done].format, frames[done].frame.direction)
            let kinds = direction == .fromClient ? kinds[format].fromClient : kinds[format].fromServer
            while done < end, frames[done].format == format, frames[done].frame.direction == direction {
                put(&frames[done], bytes, kinds, &start)
                done += 1
            }
        }
    }

    @inline(__always)
    private func put(_ next: inout LineBatch.Frame, _ bytes: RawSpan, _ kinds: FrameKinds, _ start: inout Int) {
        let content = bytes.extracting(start..<next.end)
        // Kinds have other numbers in this renderer's `FrameKinds`.
        if next.frame.kind != nil { next.frame.kind = kinds.kind(of: content, next.frame.shape) }
        writer.write(next.frame, content, kinds, of: next.connection)
        start = next.end
    }
}

/// Reads a share of a capture that several threads read (`SharedCapture`).
package struct SharedCaptureReader: SteppingReader {
    private var parser = CaptureParser()
    private var pieces = 0
    private let share: Int
    /// How many bytes were read from the source for all threads.
    package private(set) var bytesRead = 0
    /// How many packets were gone through.
    package var packetCount: Int { parser.packetCount }
    private let capture: SharedCapture

    /// A reader at the start of the capture.
    ///
    /// - Parameter share: the place of its share among those that the capture is read for.
    package init(_ capture: SharedCapture, share: Int) { (self.capture, self.share) = (capture, share) }

    /// Passes on the packets of the next piece; waits for it.
    package mutating func step(to decoder: inout CaptureDecoder) throws(CaptureReadFailure<any Error>) -> ReadingStep {
        guard let piece = capture.piece(pieces, for: share) else { return .end }
        pieces += 1
        bytesRead = piece.bytesRead
        if let failure = piece.failure { throw failure }
        // Nothing refers to the piece afterwards: its memory is used again.
        defer { parser.foreignRuns = nil }
        parser.foreignRuns = piece.packets.isOrdered ? ForeignRuns(in: piece.packets, origin: piece.position) : nil
        do {
            _ = try decoder.parse(
                piece.bytes.span.bytes.extracting(piece.window), isLast: piece.isLast, by: &parser)
        } catch {
            var error = error
            error.isExpanded = piece.isExpanded
            throw .damaged(error)
        }
        return piece.isLast ? .end : .more
    }
}

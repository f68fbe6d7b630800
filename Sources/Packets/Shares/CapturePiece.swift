/// A piece of a capture file that several threads go through.
struct CapturePiece: Sendable {
    var bytes: [UInt8] = []
    /// Which of the bytes are parsed: from the first packet that was not complete before.
    var window = 0..<0
    /// The offset of the window in the file.
    var position = 0
    /// Whether the file ends with the window.
    var isLast = false
    /// Whether the file is compressed.
    var isExpanded = false
    /// The packets in the window.
    var packets = PacketPlaces()
    /// How many bytes of the source had been read.
    var bytesRead = 0
    /// Why there are no bytes.
    var failure: CaptureReadFailure<any Error>?
}

import Streams

/// The published receivers of `marker` (hazard `split-frame`): each read is split at the markers on its own, so the tail of a
/// segmented frame is dropped, and its beginning is treated as the whole.
package struct PerReadSplitter: MessageReader {
    private let marker = BroadcastText.marker

    /// A reader.
    package init() {}

    package mutating func receive(_ bytes: RawSpan, at time: Timestamp) -> [PeerInput] {
        var inputs: [PeerInput] = []
        var rest = bytes.copied()[...]
        var isAfterMarker = false
        while true {
            let end = next(in: rest)
            let piece = rest[..<(end ?? rest.endIndex)]
            if isAfterMarker {
                inputs.append(.message(PeerMessage(body: Array(piece))))
            } else if !piece.isEmpty {
                inputs.append(.unframed(byteCount: piece.count, detail: "dropped: no marker before it in this read"))
            }
            guard let end else { return inputs }
            rest = rest[(end + marker.count)...]
            isAfterMarker = true
        }
    }

    private func next(in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.first { bytes[$0...].starts(with: marker) }
    }
}

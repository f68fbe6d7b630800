import Streams

/// Removes the encodings of one direction of a conversation, as its states say, in front of its framer.
///
/// Where a state's streams are encoded, the framer stops at the first byte after the frame that led there, and hands over the rest of
/// the chunk. It comes back decoded: offsets count decoded bytes, as they do with TLS.
package final class LayeredStream {
    private let conversation: Conversation
    private let direction: Direction
    private var layers: [any StreamLayer] = []

    /// The stream of a direction; nil if no state encodes it.
    package init?(_ conversation: Conversation, _ direction: Direction) {
        guard conversation.encodes(direction) else { return nil }
        (self.conversation, self.direction) = (conversation, direction)
        conversation.removesLayers[direction] = true
    }

    /// Approximately how much memory the layers take.
    package var memory: Int { layers.reduce(0) { $0 + $1.memory } }

    /// Takes the next bytes of the stream.
    ///
    /// - Parameter frame: frames decoded bytes.
    package func take(_ bytes: RawSpan, _ frame: (RawSpan) -> Void) { pass(bytes, to: 0, frame) }

    /// Releases the layers: what follows cannot be decoded.
    ///
    /// - Parameter cause: why, for people.
    package func evict(because cause: String) {
        guard !layers.isEmpty else { return }
        giveUp(0, "\(conversation.encoding(of: direction)) is no longer decoded: \(cause)")
    }

    /// The next bytes were not seen.
    ///
    /// - Returns: how many decoded bytes were not.
    package func skip(_ byteCount: Int) -> Int {
        var count = byteCount
        for (level, layer) in layers.enumerated() {
            guard let lost = layer.skip(count) else {
                giveUp(
                    level,
                    "\(conversation.encoding(of: direction)) after a gap of \(byteCount) bytes cannot be decoded")
                return count
            }
            count = lost
        }
        return count
    }

    /// Passes bytes through the layers from one on, and frames what comes out of the last.
    private func pass(_ bytes: RawSpan, to level: Int, _ frame: (RawSpan) -> Void) {
        var at = 0
        while at < bytes.byteCount {
            let rest = bytes.extracting(at..<bytes.byteCount)
            guard level < layers.count else {
                frame(rest)
                guard let handedOver = conversation.takeHandedOver(direction) else { return }
                addLayers()
                switch handedOver {
                case .end(let count): at = bytes.byteCount - count
                case .bytes(let rest): return pass(rest.span.bytes, to: min(level, layers.count), frame)
                }
                continue
            }
            let layer = layers[level]
            do throws(StreamLayerFault) {
                at += try layer.take(rest) { pass($0, to: level + 1, frame) }
            } catch {
                giveUp(level, error.description)
                // Where the fault is does not depend on how the stream was cut, and so does what is unframed.
                if error.used < rest.byteCount { frame(rest.extracting(error.used..<rest.byteCount)) }
                return
            }
            if layer.isOver, level < layers.count, layers[level] === layer {
                layers.removeLast(layers.count - level)
                conversation.lostLayers(direction, to: level)
            }
        }
    }

    /// The state needs further layers: what was handed over is decoded by them.
    private func addLayers() {
        do throws(StreamLayerFault) {
            let new = try conversation.newLayers(direction)
            if new.isEmpty { giveUp(layers.count, "its encoding is not known") }
            layers += new
        } catch {
            giveUp(layers.count, error.description)
        }
    }

    /// A layer can decode nothing more: what it would have to decode remains as it is, and belongs to no frame.
    private func giveUp(_ level: Int, _ reason: String) {
        layers.removeLast(layers.count - level)
        conversation.giveUp(direction, reason)
    }
}

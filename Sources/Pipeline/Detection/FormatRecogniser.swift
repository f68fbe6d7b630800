import Framing
import Streams

/// Recognises the format of one connection by its bytes, as a decoder does, for those that must know it while the bytes pass.
package final class FormatRecogniser {
    private let detection: Detection
    /// Whether the format will not be known, whatever follows.
    package private(set) var isOver = false

    /// - Parameters:
    ///   - formats: those that are recognised.
    ///   - port: the server's, which decides between formats that fit equally well.
    ///   - limit: how many bytes of a direction are looked at.
    package init(_ formats: [Format], port: UInt16, limit: Int) {
        detection = Detection(formats.compactMap { TrialPlan($0) }, aligned: true, limit: limit, port: port)
    }

    /// Takes the next bytes of a direction; returns the format, once these settle it.
    package func take(_ bytes: RawSpan, from direction: Direction, at time: Timestamp) -> Format? {
        guard !isOver else { return nil }
        if let (chosen, _) = detection.receive(bytes, from: direction, at: time, packet: 0) {
            isOver = true
            return chosen.format.isFramed ? chosen.format : nil
        }
        isOver = detection.isExhausted
        return nil
    }
}

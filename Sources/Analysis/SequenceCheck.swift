import Framing
import Streams
import Trace

/// Finds numbers that should go on and do not: left out (`sequence-gap`), or sent again or from before (`sequence-repeat`).
///
/// After bytes that were not seen or belong to no frame, numbers may be missing: the next one is taken as it is.
package final class SequenceCheck: Analysis {
    /// A number, when its frame arrived, and whether it is secret there.
    private struct Last {
        var number: Int64
        var time: Timestamp
        var isSecret: Bool
    }

    /// The last number of each direction.
    private var last: [Int: PerDirection<Last?>] = [:]

    /// A check that has seen nothing.
    package init() {}

    /// All frames of formats with a sequence.
    package func interest(in format: Format) -> FrameInterest { format.sequence == nil ? [] : .all }

    /// Compares a frame's number with the one before.
    package func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let shared = connection.known, let rule = shared.format.sequence,
            rule.from ?? frame.direction == frame.direction,
            frame.info.missing == 0,
            let text = shared.format.directions[frame.direction].value(at: rule.place, of: bytes, frame.shape)?
                .plainText,
            let number = Int64(text)
        else { return }
        let known = last[connection.number]?[frame.direction]
        var sides = last[connection.number] ?? PerDirection(fromClient: nil, fromServer: nil)
        let before = known ?? nil
        let isSecret =
            connection.kinds(of: frame.direction).map { FrameSecrets.hide(rule.place, of: frame, bytes, $0) } ?? false
        sides[frame.direction] = Last(number: number, time: frame.info.time, isSecret: isSecret)
        last[connection.number] = sides
        guard let before, number != rule.next(after: before.number),
            !wasDisturbed(connection, frame.direction, since: before.time)
        else { return }
        let expected = rule.next(after: before.number)
        let missing = rule.missing(from: expected, to: number)
        let isHidden = isSecret || before.isSecret
        var message = missing == nil ? "sequence repeat" : "sequence gap"
        if !isHidden { message += ": \(number) follows \(before.number)" }
        if let missing {
            message += "\(isHidden ? ":" : ",") \(Quantities.counted(Int(missing), "number")) left out"
        } else if !isHidden {
            message += ", expected \(expected)"
        }
        var data = [Field("index", .integer(Int64(frame.info.index)))]
        if !isHidden { data += [Field("expected", .integer(expected)), Field("found", .integer(number))] }
        if let missing { data.append(Field("missing", .integer(missing))) }
        findings.append(
            Finding(
                kind: missing == nil ? .sequenceRepeat : .sequenceGap, severity: .warning,
                connection: connection.number,
                format: shared.format.name, from: frame.direction, time: frame.info.time, message: message,
                data: data + .packets(("packet", frame.info.packet))))
    }

    private func wasDisturbed(_ connection: TracedConnection, _ direction: Direction, since time: Timestamp) -> Bool {
        let disturbances = connection.traffic[direction].disturbances
        return [disturbances?.missing, disturbances?.unframed].contains { $0.map { $0 >= time } ?? false }
    }

    /// Forgets the connection.
    package func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        last[connection.number] = nil
    }
}

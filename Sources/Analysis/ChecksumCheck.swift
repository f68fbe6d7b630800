import Framing
import Streams
import Trace

/// Finds frames whose checksum does not match their bytes.
package final class ChecksumCheck: Analysis {
    /// A check that has seen nothing.
    package init() {}

    /// All of those that have checksums.
    package func interest(in format: Format) -> FrameInterest {
        let sides = [format.directions.fromClient, format.directions.fromServer]
        return sides.contains { $0.layouts.contains(where: \.hasChecksums) } ? .all : []
    }

    /// Checks a complete frame.
    package func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let known = connection.known else { return }
        let layout = known.format.directions[frame.direction].layouts[frame.shape.layout]
        // The checksum of a frame with a gap cannot match.
        guard layout.hasChecksums, frame.info.missing == 0 else { return }
        for result in layout.checksums(of: bytes, frame.shape) {
            // Hashes in text may have digits in either case.
            if result.found == result.expected || result.found.lowercased() == result.expected.lowercased() { continue }
            var message = "bad checksum: \(result.field) does not match"
            var data = [Field("index", .integer(Int64(frame.info.index))), Field("field", .text(result.field))]
            let isHidden =
                connection.kinds(of: frame.direction).map {
                    FrameSecrets.hide(.field(result.field), of: frame, bytes, $0)
                }
                ?? false
            if !isHidden {
                message = "bad checksum: \(result.field) is 0x\(result.found), expected 0x\(result.expected)"
                data += [Field("found", .text(result.found)), Field("expected", .text(result.expected))]
            }
            findings.append(
                Finding(
                    kind: .badChecksum, severity: .warning, connection: connection.number, format: known.format.name,
                    from: frame.direction, time: frame.info.time, message: message,
                    data: data + .packets(("packet", frame.info.packet))))
        }
    }
}

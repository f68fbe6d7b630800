import Framing
import Streams
import Trace

/// Reports bytes of a capture that are not part of the streams: other versions of bytes, late bytes, and those after the end. The
/// kinds are capture-only (`docs/trace.md`): the proxy reads streams that its system reassembled.
package final class StreamFaults: Analysis {
    /// How many bytes of each version a finding shows.
    private static let shown = 256

    /// Nothing is waited for.
    package let nextDeadline: Timestamp? = nil

    /// Reports nothing yet.
    package init() {}

    /// Reports bytes that are not part of the stream.
    package func noticed(
        _ notice: StreamNotice, _ packet: NoticedPacket, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        func report(
            _ kind: Finding.Kind, _ severity: Finding.Severity, _ message: String, _ offset: Int, _ length: Int,
            _ data: [Field] = []
        ) {
            findings.append(
                Finding(
                    kind: kind, severity: severity, connection: connection.number,
                    format: connection.known?.format.name,
                    from: packet.direction, time: packet.time, message: message,
                    data: [
                        Field("offset", .integer(Int64(offset))), Field("length", .integer(Int64(length))),
                        Field("packet", .integer(Int64(packet.number))),
                    ] + data))
        }
        // They are of any part of a frame, or of none: what is secret in them cannot be told from the rest.
        let isHidden = connection.known?.format.secrets.isEmpty == false
        func hex(_ key: String, _ bytes: ArraySlice<UInt8>) -> Field { Self.hex(key, isHidden ? [] : bytes) }
        switch notice {
        case .conflict(let start, let kept, let other):
            // From the first to the last byte that differs.
            guard let first = zip(kept, other).enumerated().first(where: { $1.0 != $1.1 })?.offset,
                let last = zip(kept, other).enumerated().reversed().first(where: { $1.0 != $1.1 })?.offset
            else { return }
            let count = last - first + 1
            report(
                .conflict, .warning,
                "\(Quantities.counted(count, "byte")) at offset \(start + first) \(count == 1 ? "was" : "were") retransmitted with different content",
                start + first, count,
                [hex("kept", kept[first...last]), hex("other", other[first...last])])
        case .late(let offset, let bytes) where offset < 0:
            report(
                .lateData, .info,
                "\(Quantities.counted(bytes.count, "byte")) arrived late, before the first byte of the stream",
                offset, bytes.count, [hex("hex", bytes[...])])
        case .late(let offset, let bytes):
            report(
                .lateData, .warning,
                "\(Quantities.counted(bytes.count, "byte")) at offset \(offset) arrived after they were declared missing",
                offset, bytes.count, [hex("hex", bytes[...])])
        case .afterEnd(let offset, let byteCount):
            report(
                .dataAfterEnd, .warning,
                "\(Quantities.counted(byteCount, "byte")) at offset \(offset), after the end of the stream (FIN)",
                offset, byteCount)
        case .stray(let offset, let byteCount):
            report(
                .lateData, .info,
                "\(Quantities.counted(byteCount, "byte")) at offset \(offset), outside of the receiver's window and never acknowledged",
                offset, byteCount)
        case .memoryLimit(let byteCount):
            findings.append(
                Finding(
                    kind: .memoryLimit, severity: .warning, connection: connection.number,
                    format: connection.known?.format.name,
                    from: packet.direction, time: packet.time,
                    message:
                        "the memory limit was reached (--memory-limit): \(Quantities.counted(byteCount, "byte")) from the \(packet.direction.sender) waited behind a gap, which is now declared missing",
                    data: [Field("evicted", .text("segments")), Field("held", .integer(Int64(byteCount)))]))
        case .synchronised, .acknowledged, .unseen, .retransmitted, .overtaken, .waiting, .windowClosed, .unrecorded,
            .held, .idle, .segment, .tls, .action, .annotated, .tlsTruncated, .tlsFault, .tlsKeysMissing:
            return
        }
    }

    private static func hex(_ key: String, _ bytes: ArraySlice<UInt8>) -> Field {
        var text: [UInt8] = []
        for byte in bytes.prefix(shown) { JSONOutput.hex(byte, into: &text) }
        return Field(key, .text(String(decoding: text, as: UTF8.self)))
    }
}

import Streams
import Trace

/// An analysis of the bytes on the wire, whatever they are decrypted to: acknowledgments and retransmissions count
/// these.
package protocol WireAnalysis: Analysis {
    /// Bytes of a direction were captured, or are missing.
    func captured(_ byteCount: Int, isMissing: Bool, _ packet: NoticedPacket, on connection: TracedConnection)
}

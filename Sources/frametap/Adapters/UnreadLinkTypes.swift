import Packets
import Trace

extension CaptureCounters {
    /// Says of which link types packets were not read: a capture that has only these looks as if it were empty.
    func warnOfUnreadLinkTypes() {
        for (linkType, packets) in unreadLinkTypes.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let name = linkType.name.map { "\($0) (\(linkType.rawValue))" } ?? "\(linkType.rawValue)"
            warn("link type \(name) is not read: \(Quantities.counted(packets, "packet")) skipped")
        }
    }
}

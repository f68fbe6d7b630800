/// How packets are captured.
public struct LiveCaptureOptions: Hashable, Sendable {
    /// How many bytes of each packet are taken at most.
    public var snapLength = 262_144
    /// How many bytes the kernel holds for us, in a ring, while we are busy.
    public var bufferSize = 16 << 20
    /// Whether packets for other machines are taken, too, where the interface gets them.
    public var isPromiscuous = true
    /// Which packets are taken, in libpcap's language (pcap-filter(7)); nil: all.
    public var filter: String?
    /// How long the kernel may collect packets before it hands them over, in milliseconds.
    public var handOver: Int32 = 10

    /// The defaults.
    public init() {}
}

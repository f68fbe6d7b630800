/// Options of a live capture.
public struct LiveCaptureOptions: Hashable, Sendable {
    /// At most how many bytes of each packet are captured.
    public var snapLength = 262_144
    /// The size of the kernel's ring buffer in bytes.
    public var bufferSize = 16 << 20
    /// Whether packets for other hosts are captured, too, if the interface receives them (promiscuous mode).
    public var isPromiscuous = true
    /// Which packets are captured, in libpcap's filter language (pcap-filter(7)); nil: all.
    public var filter: String?
    /// How long the kernel may collect packets before it delivers them, in milliseconds.
    public var handOver: Int32 = 10

    /// The defaults.
    public init() {}
}

/// Options of a live capture.
package struct LiveCaptureOptions: Hashable, Sendable {
    /// At most how many bytes of each packet are captured.
    package var snapLength = 262_144
    /// The size of the kernel's ring buffer in bytes.
    package var bufferSize = 16 << 20
    /// Whether packets for other hosts are captured, too, if the interface receives them (promiscuous mode).
    package var isPromiscuous = true
    /// Which packets are captured, in libpcap's filter language (pcap-filter(7)); nil: all.
    package var filter: String?
    /// How long the kernel may collect packets before it delivers them, in milliseconds.
    package var handOver: Int32 = 10

    /// The defaults.
    package init() {}
}

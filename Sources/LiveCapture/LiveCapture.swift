import CLibpcap
import Packets
import Platform
import Streams

/// The packets of a network interface as they pass, by way of libpcap.
///
/// The kernel collects them in a ring; `read` takes what is there and does not wait. Memory that libpcap hands over is
/// borrowed for the length of a call, and nothing else in frametap touches libpcap.
public struct LiveCapture: ~Copyable {
    /// What the kernel counted since the start.
    public struct Counts: Hashable, Sendable {
        /// Packets that passed the filter.
        public var received = 0
        /// Those of them that the ring had no room for.
        public var dropped = 0
        /// Packets that the interface or its driver lost.
        public var droppedByInterface = 0

        /// Nothing.
        public init() {}
    }

    private let handle: OpaquePointer
    private let unitsPerSecond: Int64
    private var packetCount = 0
    private var total = Counts()
    private var lastStatistics = pcap_stat()

    /// The interface.
    public let interface: String
    /// What its packets begin with.
    public let linkType: LinkType
    /// For people: what libpcap has to say though it goes on, such as that the interface cannot be promiscuous.
    public let warning: String?

    /// Begins to capture.
    public init(_ interface: String, options: LiveCaptureOptions = LiveCaptureOptions()) throws(LiveCaptureError) {
        let (created, text) = errorText { pcap_create(interface, $0) }
        guard let handle = created else {
            throw LiveCaptureError(kind: .failed, message: "cannot capture on \(interface): \(text)")
        }
        do throws(LiveCaptureError) {
            warning = try Self.activate(handle, interface, options)
        } catch {
            pcap_close(handle)
            throw error
        }
        self.handle = handle
        self.interface = interface
        unitsPerSecond = pcap_get_tstamp_precision(handle) == PCAP_TSTAMP_PRECISION_NANO ? 1_000_000_000 : 1_000_000
        linkType = Self.linkType(pcap_datalink(handle))
    }

    deinit { pcap_close(handle) }

    /// - Returns: what there is to warn about.
    private static func activate(
        _ handle: OpaquePointer, _ interface: String, _ options: LiveCaptureOptions
    ) throws(LiveCaptureError) -> String? {
        pcap_set_snaplen(handle, Int32(clamping: options.snapLength))
        pcap_set_buffer_size(handle, Int32(clamping: options.bufferSize))
        pcap_set_promisc(handle, options.isPromiscuous ? 1 : 0)
        // Not "immediate mode": that takes a slot of the longest packet's size for each packet of the ring.
        pcap_set_timeout(handle, options.handOver)
        // Where the system has no nanoseconds, this fails and microseconds stay.
        pcap_set_tstamp_precision(handle, PCAP_TSTAMP_PRECISION_NANO)
        let status = pcap_activate(handle)
        let (general, particular) = (String(cString: pcap_statustostr(status)), detail(handle))
        let text = particular.isEmpty ? general : "\(general) (\(particular))"
        if status < 0 {
            let kind: LiveCaptureError.Kind =
                switch status {
                case PCAP_ERROR_PERM_DENIED, PCAP_ERROR_PROMISC_PERM_DENIED: .notPermitted
                case PCAP_ERROR_NO_SUCH_DEVICE: .noSuchInterface
                default: .failed
                }
            throw LiveCaptureError(kind: kind, message: "cannot capture on \(interface): \(text)")
        }
        if let filter = options.filter { try set(filter, handle) }
        let (unblocked, reason) = errorText { pcap_setnonblock(handle, 1, $0) }
        guard unblocked == 0 else {
            throw LiveCaptureError(kind: .failed, message: "cannot capture on \(interface): \(reason)")
        }
        return status > 0 ? text : nil
    }

    /// What libpcap last said; empty where it said nothing.
    private static func detail(_ handle: OpaquePointer) -> String {
        pcap_geterr(handle).map { String(cString: $0) } ?? ""
    }

    private static func set(_ filter: String, _ handle: OpaquePointer) throws(LiveCaptureError) {
        var program = bpf_program()
        // The netmask matters to `ip broadcast` alone, and an interface may have several.
        guard pcap_compile(handle, &program, filter, 1, PCAP_NETMASK_UNKNOWN) == 0 else {
            throw LiveCaptureError(kind: .badFilter, message: detail(handle))
        }
        defer { pcap_freecode(&program) }
        guard pcap_setfilter(handle, &program) == 0 else {
            throw LiveCaptureError(kind: .failed, message: "the kernel does not take the filter: \(detail(handle))")
        }
    }

    /// libpcap's numbers are those of files, but for a few that differ from system to system
    /// (<https://www.tcpdump.org/linktypes.html>).
    private static func linkType(_ number: Int32) -> LinkType {
        #if canImport(Darwin)
        if number == 149 { return .packetTap }
        #endif
        return number == DLT_RAW ? .raw : LinkType(rawValue: UInt16(truncatingIfNeeded: number))
    }
}

extension LiveCapture {
    /// Waits until there are packets, for so many milliseconds at most.
    public func wait(milliseconds: Int32) {
        let descriptor = pcap_get_selectable_fd(handle)
        guard descriptor >= 0 else {
            usleep(UInt32(max(0, milliseconds)) * 1_000)
            return
        }
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&waiting, 1, milliseconds)
    }

    /// Hands on packets that are there.
    ///
    /// - Parameters:
    ///   - most: how many, at most.
    ///   - receiver: what takes them. Where it says to stop, the packet is lost, since no other reading follows.
    /// - Returns: how many there were; fewer than `most` where there are no more.
    public mutating func read<Receiver: PacketReceiver & ~Copyable>(
        _ most: Int, to receiver: inout Receiver
    ) throws(LiveCaptureError) -> Int {
        for count in 0..<most {
            var header: UnsafeMutablePointer<pcap_pkthdr>?
            var data: UnsafePointer<UInt8>?
            let status = pcap_next_ex(handle, &header, &data)
            if status == 0 { return count }
            guard status == 1, let header = header?.pointee, let data else {
                throw LiveCaptureError(kind: .failed, message: "cannot read from \(interface): \(Self.detail(handle))")
            }
            packetCount += 1
            let fraction = Int64(header.ts.tv_usec) * (1_000_000_000 / unitsPerSecond)
            let packet = PacketInfo(
                number: packetCount, time: Timestamp(seconds: Int64(header.ts.tv_sec), nanoseconds: fraction),
                linkType: linkType, capturedLength: Int(header.caplen), originalLength: Int(header.len))
            // libpcap's until the next call.
            let bytes = UnsafeRawBufferPointer(start: data, count: Int(header.caplen)).bytes
            if receiver.receive(packet, bytes: bytes, options: RawSpan()) == .stop { return count + 1 }
        }
        return most
    }

    /// What the kernel counted since the start; what it counted before where it does not say.
    public mutating func counts() -> Counts {
        var now = pcap_stat()
        guard pcap_stats(handle, &now) == 0 else { return total }
        // 32 bits, which go round.
        total.received += Int(now.ps_recv &- lastStatistics.ps_recv)
        total.dropped += Int(now.ps_drop &- lastStatistics.ps_drop)
        total.droppedByInterface += Int(now.ps_ifdrop &- lastStatistics.ps_ifdrop)
        lastStatistics = now
        return total
    }
}

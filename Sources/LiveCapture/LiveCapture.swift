import CLibpcap
import Packets
import Platform
import Streams

/// Captures the packets of a network interface live, using libpcap.
///
/// The kernel collects them in a ring; `read` takes the available ones and does not wait. Memory from libpcap is borrowed for the
/// duration of a call, and nothing else in frametap uses libpcap.
package struct LiveCapture: ~Copyable {
    /// The kernel's counts since the start.
    package struct Counts: Hashable, Sendable {
        /// Packets that passed the filter.
        package var received = 0
        /// Those dropped because the ring was full.
        package var dropped = 0
        /// Packets dropped by the interface or its driver.
        package var droppedByInterface = 0

        /// Nothing.
        package init() {}
    }

    private let pcap: pcap_functions
    private let handle: OpaquePointer
    private let unitsPerSecond: Int64
    private var packetCount = 0
    private var total = Counts()
    private var lastStatistics = pcap_stat()

    /// The interface.
    package let interface: String
    /// What its packets begin with.
    package let linkType: LinkType
    /// Human-readable: a warning of libpcap, such as that promiscuous mode is not supported.
    package let warning: String?

    /// Starts capturing.
    package init(_ interface: String, options: LiveCaptureOptions = LiveCaptureOptions()) throws(LiveCaptureError) {
        let pcap = try Libpcap.functions()
        let (created, text) = errorText { pcap.create(interface, $0) }
        guard let handle = created else {
            throw LiveCaptureError(kind: .failed, message: "cannot capture on \(interface): \(text)")
        }
        do throws(LiveCaptureError) {
            warning = try Self.activate(pcap, handle, interface, options)
        } catch {
            pcap.close(handle)
            throw error
        }
        (self.pcap, self.handle) = (pcap, handle)
        self.interface = interface
        unitsPerSecond = pcap.get_tstamp_precision(handle) == PCAP_TSTAMP_PRECISION_NANO ? 1_000_000_000 : 1_000_000
        linkType = Self.linkType(pcap.datalink(handle))
    }

    /// The version of libpcap, as it names itself; an error if it is not installed.
    package static func libraryVersion() throws(LiveCaptureError) -> String {
        try Libpcap.functions().lib_version().map { String(cString: $0) } ?? "libpcap"
    }

    deinit { pcap.close(handle) }

    /// - Returns: a warning, if any.
    private static func activate(
        _ pcap: pcap_functions, _ handle: OpaquePointer, _ interface: String, _ options: LiveCaptureOptions
    ) throws(LiveCaptureError) -> String? {
        _ = pcap.set_snaplen(handle, Int32(clamping: options.snapLength))
        _ = pcap.set_buffer_size(handle, Int32(clamping: options.bufferSize))
        _ = pcap.set_promisc(handle, options.isPromiscuous ? 1 : 0)
        // Not "immediate mode": that takes a slot of the snapshot length for each packet of the ring.
        _ = pcap.set_timeout(handle, options.handOver)
        // If the system does not support nanoseconds, this fails and microseconds remain.
        _ = pcap.set_tstamp_precision(handle, PCAP_TSTAMP_PRECISION_NANO)
        let status = pcap.activate(handle)
        let (general, particular) = (pcap.statustostr(status).map { String(cString: $0) } ?? "", detail(pcap, handle))
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
        if let filter = options.filter { try set(filter, pcap, handle) }
        let (unblocked, reason) = errorText { pcap.setnonblock(handle, 1, $0) }
        guard unblocked == 0 else {
            throw LiveCaptureError(kind: .failed, message: "cannot capture on \(interface): \(reason)")
        }
        return status > 0 ? text : nil
    }

    /// libpcap's last error message; empty if there is none.
    private static func detail(_ pcap: pcap_functions, _ handle: OpaquePointer) -> String {
        pcap.geterr(handle).map { String(cString: $0) } ?? ""
    }

    private static func set(_ filter: String, _ pcap: pcap_functions, _ handle: OpaquePointer) throws(LiveCaptureError)
    {
        var program = bpf_program()
        // The netmask matters to `ip broadcast` alone, and an interface may have several.
        guard pcap.compile(handle, &program, filter, 1, PCAP_NETMASK_UNKNOWN) == 0 else {
            throw LiveCaptureError(kind: .badFilter, message: detail(pcap, handle))
        }
        defer { pcap.freecode(&program) }
        guard pcap.setfilter(handle, &program) == 0 else {
            throw LiveCaptureError(
                kind: .failed, message: "the kernel does not take the filter: \(detail(pcap, handle))")
        }
    }

    /// libpcap's numbers are those of files, except a few that differ from system to system
    /// (<https://www.tcpdump.org/linktypes.html>).
    private static func linkType(_ number: Int32) -> LinkType {
        #if canImport(Darwin)
        if number == 149 { return .packetTap }
        #endif
        return number == DLT_RAW ? .raw : LinkType(rawValue: UInt16(truncatingIfNeeded: number))
    }
}

extension LiveCapture {
    /// Waits for packets, for at most this many milliseconds.
    package func wait(milliseconds: Int32) {
        let descriptor = pcap.get_selectable_fd(handle)
        guard descriptor >= 0 else {
            usleep(UInt32(max(0, milliseconds)) * 1_000)
            return
        }
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&waiting, 1, milliseconds)
    }

    /// Passes on available packets.
    ///
    /// - Parameters:
    ///   - most: at most how many.
    ///   - receiver: receives them. If it asks to stop, the packet is lost, since no other read follows.
    /// - Returns: how many there were; fewer than `most` if there are no more.
    package mutating func read<Receiver: PacketReceiver & ~Copyable>(
        _ most: Int, to receiver: inout Receiver
    ) throws(LiveCaptureError) -> Int {
        for count in 0..<most {
            var header: UnsafeMutablePointer<pcap_pkthdr>?
            var data: UnsafePointer<UInt8>?
            let status = pcap.next_ex(handle, &header, &data)
            if status == 0 { return count }
            guard status == 1, let header = header?.pointee, let data else {
                throw LiveCaptureError(
                    kind: .failed, message: "cannot read from \(interface): \(Self.detail(pcap, handle))")
            }
            packetCount += 1
            let fraction = Int64(header.ts.tv_usec) * (1_000_000_000 / unitsPerSecond)
            let packet = PacketInfo(
                number: packetCount, time: Timestamp(seconds: Int64(header.ts.tv_sec), nanoseconds: fraction),
                linkType: linkType, capturedLength: Int(header.caplen), originalLength: Int(header.len))
            // Owned by libpcap until the next call.
            let bytes = UnsafeRawBufferPointer(start: data, count: Int(header.caplen)).bytes
            if receiver.receive(packet, bytes: bytes, options: RawSpan()) == .stop { return count + 1 }
        }
        return most
    }

    /// The kernel's counts since the start; the previous ones if it does not report any.
    package mutating func counts() -> Counts {
        var now = pcap_stat()
        guard pcap.stats(handle, &now) == 0 else { return total }
        // 32 bits, which wrap around.
        total.received += Int(now.ps_recv &- lastStatistics.ps_recv)
        total.dropped += Int(now.ps_drop &- lastStatistics.ps_drop)
        total.droppedByInterface += Int(now.ps_ifdrop &- lastStatistics.ps_ifdrop)
        lastStatistics = now
        return total
    }
}

import Streams

/// Decodes packets into the streams of TCP connections: link layers and tunnels, IP, fragments, reassembly.
///
/// Packets of several files may be passed to one decoder in chronological order: connections continue across files.
package struct CaptureDecoder: PacketReceiver, ~Copyable {
    /// How many nested headers a packet may have before TCP.
    static let maximumDepth = 24

    var reassembler: TCPReassembler
    private var defragmenter = Defragmenter()
    private var packets = 0
    /// The time of the last packet that had one.
    private(set) var time = Timestamp(nanoseconds: 0)
    private var bytes = 0
    private var segments = 0
    private var skipped: [Skipped: Int] = [:]
    private var unreadLinkTypes: [LinkType: Int] = [:]
    let verifiesChecksums: Bool
    /// The packet that the fast path was last tried for, and how many tries in a row have failed.
    var (lastTried, misses) = (0, 0)
    private let share: CaptureShare?
    /// The latest time of the packets that were passed over: the reassembler does not know of them.
    private var passedTime = Timestamp(nanoseconds: .min)
    private let selection: ConnectionSelection?

    /// A decoder that has seen nothing.
    ///
    /// - Parameters:
    ///   - options: limits and choices of reassembly.
    ///   - receiver: receives the streams.
    package init(options: ReassemblyOptions = ReassemblyOptions(), receiver: any StreamReceiver) {
        reassembler = TCPReassembler(options: options, receiver: receiver)
        verifiesChecksums = options.verifiesChecksums
        share = options.share
        selection = options.selection
    }

    /// What was seen so far.
    package var counters: CaptureCounters {
        var counters = CaptureCounters()
        (counters.packets, counters.bytes, counters.segments) = (packets, bytes, segments)
        counters.skipped = skipped
        counters.unreadLinkTypes = unreadLinkTypes
        counters.abandonedDatagrams = defragmenter.abandoned
        // Fragments of datagrams that may still become complete count as skipped for now.
        let lost = defragmenter.lost + defragmenter.waiting
        if lost > 0 { counters.skipped[.fragment, default: 0] += lost }
        if reassembler.unreadSegments > 0 { counters.skipped[.closedConnection] = reassembler.unreadSegments }
        if defragmenter.conflicts > 0 { counters.skipped[.conflictingFragment] = defragmenter.conflicts }
        return counters
    }

    /// How many connections were opened.
    package var connectionCount: Int { reassembler.connectionCount }

    /// Whether a limit shared by all connections was reached, so that one was treated differently because of others.
    package var hasReachedLimit: Bool { reassembler.hasReachedLimit }

    /// Takes a packet.
    package mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        countPacket(bytes.byteCount)
        if packet.hasTime {
            advance(toPacketAt: packet.time)
        } else {
            reassembler.advance(to: passedTime)
        }
        reassembler.leg = packet.leg
        if options.byteCount > 16 {
            reassembler.annotation = packet.annotation(in: options)
        } else if reassembler.annotation != nil {
            reassembler.annotation = nil  // that of a packet that was not taken
        }
        if packet.linkType == .ethernet, !verifiesChecksums, takeCommon(bytes, packet) { return .taken }
        guard let layer = Layer(packet.linkType) else {
            skipped[.linkType, default: 0] += 1
            unreadLinkTypes[packet.linkType, default: 0] += 1
            return .taken
        }
        let cutOff = max(0, packet.originalLength &- bytes.byteCount)
        if let reason = decode(bytes, from: layer, cutOff: cutOff, packet, depth: 0) {
            skipped[reason, default: 0] += 1
        }
        return .taken
    }

    /// Counts a packet.
    @inline(__always)
    mutating func countPacket(_ byteCount: Int) {
        packets &+= 1
        bytes &+= byteCount
    }

    /// Advances time to that of a packet.
    @inline(__always)
    mutating func advance(toPacketAt time: Timestamp) {
        self.time = time
        reassembler.advance(to: max(time, passedTime))
    }

    /// If there are shares, unless checksums are verified: then all packets are received.
    package var passesOver: Bool { share != nil && !verifiesChecksums }

    /// Passes over packets of other shares: a whole run at once, if it is known where it ends, and nothing is to be done before.
    @inline(__always)
    package mutating func passOver(
        _ window: RawSpan, from at: inout Int, position: Int, runs: inout ForeignRuns?,
        record: (_ at: Int) -> PassedPackets.Record?
    ) -> Int {
        guard let share else { return 0 }
        if runs != nil {
            guard let run = runs?.run(at: position &+ at, exceptOf: share) else { return 0 }
            if run.time < reassembler.quietUntil {
                at = (runs?.origin ?? position) &- position &+ run.end
                runs?.pass(run)
                passedOver(PassedPackets(run))
                return run.count
            }
        }
        let passed = PassedPackets(
            in: window, from: &at, exceptOf: share, quietUntil: { reassembler.quietUntil }, record: record)
        if passed.count > 0 { passedOver(passed) }
        return passed.count
    }

    /// Counts packets of other shares, and notes the time, which advances with the next packet.
    private mutating func passedOver(_ packets: PassedPackets) {
        self.packets &+= packets.count
        segments &+= packets.count
        bytes &+= packets.byteCount
        time = packets.time
        passedTime = max(passedTime, packets.latest)
    }

    /// Passes on the packets of a window: the parser is specialized for this type.
    package mutating func parse(
        _ window: RawSpan, isLast: Bool, by parser: inout CaptureParser
    ) throws(CaptureError) -> CaptureParser.Progress {
        try parser.parse(window, isLast: isLast, to: &self)
    }

    /// Counts packets that were lost while the file was captured.
    package mutating func dropped(_ drops: CaptureDrops) {
        if drops.bySystem > 0 { skipped[.droppedByKernel, default: 0] &+= Int(drops.bySystem) }
        if drops.byInterface > 0 { skipped[.droppedByInterface, default: 0] &+= Int(drops.byInterface) }
    }

    /// Passes on secrets.
    package mutating func learned(keyLog: RawSpan) {
        reassembler.advance(to: passedTime)
        reassembler.learned(keyLog: keyLog)
    }

    /// Advances time to the end that the file states.
    package mutating func captured(until time: Timestamp) {
        reassembler.advance(to: passedTime)
        reassembler.advance(to: time)
    }

    /// Advances time: a live source calls this when nothing happens.
    package mutating func advance(to time: Timestamp) {
        reassembler.advance(to: time)
    }

    /// Sets the total number of packets the source has lost: a live source counts them.
    package mutating func dropped(_ packets: Int) {
        if packets > 0 { skipped[.droppedByKernel] = packets }
    }

    /// There are no more packets: waiting bytes are passed on, open connections are closed.
    package mutating func finish() {
        reassembler.advance(to: passedTime)
        reassembler.finish()
    }

    /// Follows the layers of a packet to its TCP segment.
    ///
    /// - Parameter cutOff: how many bytes the packet had after the captured ones.
    /// - Returns: why there is no segment, or nil.
    private mutating func decode(
        _ bytes: RawSpan, from first: Layer, cutOff: Int, _ packet: PacketInfo, depth start: Int
    ) -> Skipped? {
        var layer = first
        var rest = bytes
        for depth in start..<CaptureDecoder.maximumDepth {
            let inside: Inside
            switch layer {
            case .ipv4:
                guard let header = IPv4Header(rest) else { return .malformed }
                if verifiesChecksums, !header.hasRightChecksum(rest) { return .badChecksum }
                let available = min(header.totalLength ?? rest.byteCount, rest.byteCount)
                var length = (header.totalLength ?? rest.byteCount &+ cutOff) &- header.headerLength
                rest = rest.extracting(unchecked: header.headerLength..<available)
                if let fragment = header.fragment {
                    return defragment(
                        rest, length, fragment, header.protocolNumber, header.source, header.destination, packet, depth)
                }
                var protocolNumber = header.protocolNumber
                if protocolNumber == IPProtocol.authenticationHeader {
                    guard let inner = IPv6Extensions.pass(rest, first: protocolNumber, isIPv4: true) else {
                        return .malformed
                    }
                    protocolNumber = inner.protocolNumber
                    length -= inner.start
                    rest = rest.extracting(inner.start..<rest.byteCount)
                }
                if protocolNumber == IPProtocol.tcp {
                    return take(
                        rest, length, from: header.source, to: header.destination, packet,
                        identification: header.identification)
                }
                inside = IPProtocol.inside(protocolNumber, rest)
            case .ipv6:
                guard let header = IPv6Header(rest) else { return .malformed }
                let available = min(header.totalLength ?? rest.byteCount, rest.byteCount)
                let length = (header.totalLength ?? rest.byteCount &+ cutOff) &- header.headerLength
                guard header.headerLength <= available else { return .malformed }
                rest = rest.extracting(unchecked: header.headerLength..<available)
                if let fragment = header.fragment {
                    return defragment(
                        rest, length, fragment, header.protocolNumber, header.source, header.destination, packet, depth)
                }
                if header.protocolNumber == IPProtocol.tcp {
                    return take(rest, length, from: header.source, to: header.destination, packet)
                }
                inside = IPProtocol.inside(header.protocolNumber, rest)
            case .ethernet:
                inside = Ethernet.read(rest)
            case .aggregateMSDU:
                return decodeSubframes(of: rest, packet, depth)
            default:
                inside = layer.read(rest)
            }
            switch inside {
            case .layer(let next, let offset, let end):
                guard offset <= rest.byteCount, offset <= end else { return .malformed }
                rest = rest.extracting(unchecked: offset..<min(end, rest.byteCount))
                layer = next
            case .skipped(let reason):
                return reason
            }
        }
        return .tooDeep
    }

    /// Whether a connection between two hosts is selected.
    @inline(__always)
    func isOurs(_ source: IPAddress, _ destination: IPAddress) -> Bool {
        share?.contains(source, destination) ?? true
    }

    /// Whether a connection is selected by its ends.
    @inline(never)
    private func isSelected(_ segment: TCPSegment) -> Bool {
        selection?.contains(ConnectionEnds(segment.source, segment.destination)) ?? true
    }

    /// Counts a segment that is not selected.
    @inline(__always)
    mutating func countSegment() { segments &+= 1 }

    /// Takes a TCP segment.
    ///
    /// - Parameter identification: the identification of its IPv4 packet; 0 if there is none.
    @inline(__always)
    mutating func take(
        _ bytes: RawSpan, _ length: Int, from source: IPAddress, to destination: IPAddress, _ packet: PacketInfo,
        identification: UInt16 = 0
    ) -> Skipped? {
        guard var segment = TCPSegment(bytes, length: length, from: source, to: destination) else { return .malformed }
        segment.identification = identification
        if verifiesChecksums, !segment.hasRightChecksum(bytes, length: length) { return .badChecksum }
        countSegment()
        guard isOurs(source, destination) else { return nil }
        if selection != nil, !isSelected(segment) { return nil }
        let start = min(length &- segment.payloadLength, bytes.byteCount)
        reassembler.receive(
            segment, payload: bytes.extracting(unchecked: start..<bytes.byteCount), at: time,
            packet: packet.number)
        return nil
    }

    /// Decodes what an A-MSDU consists of. Each subframe without a TCP segment counts as a skipped packet.
    private mutating func decodeSubframes(of bytes: RawSpan, _ packet: PacketInfo, _ depth: Int) -> Skipped? {
        guard var subframe = AggregateMSDU.Subframe(bytes, at: 0) else { return .malformed }
        while true {
            let reason = decode(
                bytes.extracting(subframe.content), from: .llc, cutOff: subframe.cutOff, packet, depth: depth + 1)
            guard let next = AggregateMSDU.Subframe(bytes, at: subframe.next) else { return reason }
            if let reason { skipped[reason, default: 0] += 1 }
            subframe = next
        }
    }

    /// Takes a fragment, and continues with the datagram once it is complete.
    ///
    /// - Parameter length: how long the payload was on the wire.
    private mutating func defragment(
        _ payload: RawSpan, _ length: Int, _ place: FragmentPlace, _ protocolNumber: UInt8, _ source: IPAddress,
        _ destination: IPAddress, _ packet: PacketInfo, _ depth: Int
    ) -> Skipped? {
        guard
            let whole = defragmenter.add(
                payload, at: place, length: length, protocolNumber: protocolNumber, from: source, to: destination,
                now: time)
        else { return nil }  // the defragmenter counts datagrams that stay incomplete
        let datagram = whole.bytes.span.bytes
        guard let inner = IPv6Extensions.pass(datagram, first: whole.protocolNumber, isIPv4: source.isIPv4)
        else {
            return .malformed
        }
        let bytes = datagram.extracting(inner.start..<datagram.byteCount)
        if inner.protocolNumber == IPProtocol.tcp {
            return take(bytes, bytes.byteCount + whole.cutOff, from: source, to: destination, packet)
        }
        switch IPProtocol.inside(inner.protocolNumber, bytes) {
        case .skipped(let reason): return reason
        case .layer(let layer, let offset, let end):
            guard offset <= bytes.byteCount, offset <= end else { return .malformed }
            return decode(
                bytes.extracting(offset..<min(end, bytes.byteCount)), from: layer, cutOff: whole.cutOff, packet,
                depth: depth + 1)
        }
    }
}

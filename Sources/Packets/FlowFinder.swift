import Streams

/// Finds what packets belong to, as the decoder sees it: inside link layers and tunnels, and after IP's fragments.
///
/// A fragment belongs where its datagram does. That is known as soon as the first fragment has been seen, if what it carries is
/// TCP; otherwise, in tunnels, once the datagram is complete. Fragments before that wait; what they belong to follows in
/// `takeSettled`. Datagrams that stay incomplete are given up when the decoder gives them up, or at a limit of bytes. A copy of a
/// fragment belongs where its datagram did.
package struct FlowFinder {
    /// What a packet belongs to.
    package enum Found: Hashable, Sendable {
        /// A TCP segment; of a fragmented one, the fragment that completes it.
        case segment(TCPSegment)
        /// Another fragment of a TCP segment.
        case part(ConnectionEnds)
        /// Something other than TCP between two hosts, or a fragment that is given up.
        case other(ConnectionEnds)
        /// A datagram of which not enough is known yet.
        case waiting(datagram: Int)
        /// Nothing that has to do with IP.
        case nothing
    }

    /// What the fragments of a datagram belong to that were waiting.
    package struct Settled: Hashable, Sendable {
        /// The datagram's number, as in `Found.waiting`.
        package var datagram: Int
        /// What they belong to; if it is `waiting`, they wait for that datagram from now on.
        package var found: Found
    }

    /// The fragments of a datagram that wait.
    private struct Waiting {
        var hosts: ConnectionEnds
        /// How many bytes their packets have.
        var bytes = 0
        /// Whether the first fragment is among them: others like it do not count.
        var hasStart = false
    }

    private var defragmenter = Defragmenter()
    /// The time of the last packet that had one.
    private var time = Timestamp(nanoseconds: 0)
    private var waiting: [Int: Waiting] = [:]
    private var waitingBytes = 0
    private let limit: Int
    /// What is known of datagrams that are not complete, or were completed lately.
    private var known: [Int: Found] = [:]
    private var settled: [Settled] = []
    /// How many bytes the packet has.
    private var length = 0
    /// What else the last packet belongs to: an A-MSDU may have packets of several connections.
    package private(set) var others: [Found] = []

    /// A finder that has seen nothing.
    ///
    /// - Parameter limit: how many bytes the packets of waiting fragments may have in all.
    package init(limit: Int = 64 << 20) {
        self.limit = limit
        defragmenter.notesNumbers = true
    }

    /// What a packet belongs to. Packets come in the order in which a decoder would get them.
    package mutating func find(_ packet: PacketInfo, _ bytes: RawSpan) -> Found {
        if packet.hasTime { time = packet.time }
        if !others.isEmpty { others = [] }
        guard let layer = Layer(packet.linkType) else { return .nothing }
        length = bytes.byteCount
        let cutOff = max(0, packet.originalLength &- bytes.byteCount)
        return follow(bytes, from: layer, cutOff: cutOff, depth: 0)
    }

    /// The ends of the most common packet, as `find` would find them: see `CommonPacket`.
    ///
    /// - Returns: nil if the packet is of another kind.
    @inline(__always)
    package mutating func commonEnds(_ packet: PacketInfo, _ bytes: RawSpan) -> ConnectionEnds? {
        guard packet.linkType == .ethernet, let common = CommonPacket(bytes) else { return nil }
        if packet.hasTime { time = packet.time }
        if !others.isEmpty { others = [] }
        return common.ends(bytes)
    }

    /// What waiting fragments belong to that was found since the last call, in this order; it goes before the packet itself.
    package mutating func takeSettled() -> [Settled] {
        defer { if !settled.isEmpty { settled = [] } }
        return settled
    }

    /// There are no more packets: what still waits is given up.
    package mutating func finish() {
        for datagram in waiting.keys.sorted() { giveUp(datagram) }
    }

    /// Follows the layers of a packet, as `CaptureDecoder` does.
    private mutating func follow(_ bytes: RawSpan, from first: Layer, cutOff: Int, depth start: Int) -> Found {
        var layer = first
        var rest = bytes
        var hosts: ConnectionEnds?
        for depth in start..<CaptureDecoder.maximumDepth {
            let inside: Inside
            switch layer {
            case .ipv4, .ipv6:
                guard let header = Header(layer, rest) else { return Found(hosts) }
                let ends = ConnectionEnds(between: header.source, header.destination)
                let available = min(header.totalLength ?? rest.byteCount, rest.byteCount)
                let length = (header.totalLength ?? rest.byteCount &+ cutOff) &- header.length
                guard header.length <= available else { return .other(ends) }
                rest = rest.extracting(unchecked: header.length..<available)
                if let fragment = header.fragment {
                    return defragment(
                        rest, length, fragment, header.protocolNumber, header.source, header.destination, depth: depth)
                }
                guard
                    let inner = IPv6Extensions.pass(
                        rest, first: header.protocolNumber, isIPv4: header.source.isIPv4)
                else { return .other(ends) }
                rest = rest.extracting(inner.start..<rest.byteCount)
                if inner.protocolNumber == IPProtocol.tcp {
                    return Self.segment(rest, length &- inner.start, header.source, header.destination)
                }
                inside = IPProtocol.inside(inner.protocolNumber, rest)
                hosts = Self.ends(ends, inside, inner.protocolNumber, rest, header.source, header.destination)
            case .aggregateMSDU:
                return followSubframes(of: rest, depth: depth)
            default:
                inside = layer.read(rest)
            }
            guard case .layer(let next, let offset, let end) = inside, offset <= rest.byteCount, offset <= end else {
                return Found(hosts)
            }
            rest = rest.extracting(unchecked: offset..<min(end, rest.byteCount))
            layer = next
        }
        return Found(hosts)
    }

    /// What an A-MSDU belongs to: the first connection in it, or else the first hosts.
    private mutating func followSubframes(of bytes: RawSpan, depth: Int) -> Found {
        var all: [Found] = []
        var at = 0
        while let subframe = AggregateMSDU.Subframe(bytes, at: at) {
            all.append(
                follow(
                    bytes.extracting(subframe.content), from: .llc, cutOff: subframe.cutOff, depth: depth + 1))
            at = subframe.next
        }
        // Those of a datagram that is not waiting any more belong where the subframe does that has settled it.
        all.removeAll {
            if case .waiting(let datagram) = $0 { return waiting[datagram] == nil }
            return false
        }
        guard let first = all.indices.min(by: { all[$0].rank < all[$1].rank }) else { return .nothing }
        let found = all.remove(at: first)
        others += all
        return found
    }

    /// The TCP segment after an IP header.
    private static func segment(
        _ bytes: RawSpan, _ length: Int, _ source: IPAddress, _ destination: IPAddress
    ) -> Found {
        guard let segment = TCPSegment(bytes, length: length, from: source, to: destination) else {
            return .other(ConnectionEnds(between: source, destination))
        }
        return .segment(segment)
    }

    /// The ends of a packet that is not TCP: with ports if it is UDP and no tunnel.
    private static func ends(
        _ hosts: ConnectionEnds, _ inside: Inside, _ protocolNumber: UInt8, _ payload: RawSpan, _ source: IPAddress,
        _ destination: IPAddress
    ) -> ConnectionEnds {
        guard case .skipped = inside, protocolNumber == IPProtocol.udp, payload.byteCount >= 4 else { return hosts }
        return ConnectionEnds(Endpoint(source, payload.u16(0)), Endpoint(destination, payload.u16(2)))
    }

    // MARK: Fragments

    private mutating func defragment(
        _ payload: RawSpan, _ wireLength: Int, _ place: FragmentPlace, _ protocolNumber: UInt8, _ source: IPAddress,
        _ destination: IPAddress, depth: Int
    ) -> Found {
        let hosts = ConnectionEnds(between: source, destination)
        let whole = defragmenter.add(
            payload, at: place, length: wireLength, protocolNumber: protocolNumber, from: source, to: destination,
            now: time)
        let number = defragmenter.latest
        for forgotten in defragmenter.takeForgotten() { known[forgotten] = nil }
        var isAbandoned = false
        for abandoned in defragmenter.takeAbandoned() {
            if abandoned == number { isAbandoned = true } else { giveUp(abandoned) }
        }
        guard let datagram = number else { return .other(hosts) }
        if let whole {
            return settle(datagram, follow(datagram: whole, source, destination, depth: depth))
        }
        if isAbandoned {
            let last = known[datagram] ?? .other(hosts)
            giveUp(datagram)
            return last
        }
        if let known = known[datagram] { return followed(known, hosts) }
        let isStart = place.offset == 0
        if isStart, waiting[datagram]?.hasStart != true,
            let found = Self.peek(payload, protocolNumber, source, destination)
        {
            known[datagram] = found
            release(datagram, found)
            return found
        }
        wait(datagram, length, hosts, isStart: isStart)
        return known[datagram] ?? .waiting(datagram: datagram)
    }

    /// Follows the layers of a datagram that was fragmented.
    private mutating func follow(
        datagram whole: FragmentedDatagram.Whole, _ source: IPAddress, _ destination: IPAddress, depth: Int
    ) -> Found {
        let hosts = ConnectionEnds(between: source, destination)
        let datagram = whole.bytes.span.bytes
        guard
            let (protocolNumber, start) = IPv6Extensions.pass(
                datagram, first: whole.protocolNumber, isIPv4: source.isIPv4)
        else {
            return .other(hosts)
        }
        let bytes = datagram.extracting(start..<datagram.byteCount)
        if protocolNumber == IPProtocol.tcp {
            return Self.segment(bytes, bytes.byteCount + whole.cutOff, source, destination)
        }
        let inside = IPProtocol.inside(protocolNumber, bytes)
        let ends = Self.ends(hosts, inside, protocolNumber, bytes, source, destination)
        guard case .layer(let layer, let offset, let end) = inside, offset <= bytes.byteCount, offset <= end else {
            return .other(ends)
        }
        let rest = bytes.extracting(offset..<min(end, bytes.byteCount))
        let found = follow(rest, from: layer, cutOff: whole.cutOff, depth: depth + 1)
        return found == .nothing ? .other(ends) : found
    }

    /// What a datagram belongs to, by its first fragment; nil if that does not decide.
    private static func peek(
        _ fragment: RawSpan, _ first: UInt8, _ source: IPAddress, _ destination: IPAddress
    ) -> Found? {
        guard let (protocolNumber, start) = IPv6Extensions.pass(fragment, first: first, isIPv4: source.isIPv4) else {
            return nil
        }
        let payload = fragment.extracting(start..<fragment.byteCount)
        if protocolNumber == IPProtocol.tcp {
            guard payload.byteCount >= 4 else { return nil }
            return .part(ConnectionEnds(Endpoint(source, payload.u16(0)), Endpoint(destination, payload.u16(2))))
        }
        if protocolNumber == IPProtocol.udp, payload.byteCount < 8 { return nil }
        let inside = IPProtocol.inside(protocolNumber, payload)
        guard case .skipped = inside else { return nil }
        let hosts = ConnectionEnds(between: source, destination)
        return .other(ends(hosts, inside, protocolNumber, payload, source, destination))
    }

    /// A fragment waits; beyond the limit, the oldest datagrams are given up, and their later fragments follow.
    private mutating func wait(_ datagram: Int, _ byteCount: Int, _ hosts: ConnectionEnds, isStart: Bool) {
        waiting[datagram, default: Waiting(hosts: hosts)].bytes += byteCount
        if isStart { waiting[datagram]?.hasStart = true }
        waitingBytes += byteCount
        while waitingBytes > limit, let oldest = waiting.keys.min(), let hosts = waiting[oldest]?.hosts {
            known[oldest] = .other(hosts)
            release(oldest, .other(hosts))
        }
    }

    /// What another fragment of a known datagram belongs to. If that was in a tunnel, and a fragment itself, it may be known by now.
    private mutating func followed(_ known: Found, _ hosts: ConnectionEnds) -> Found {
        var found = known
        while case .waiting(let inner) = found {
            if let next = self.known[inner] {
                found = next
                continue
            }
            guard waiting[inner] != nil else { return .other(hosts) }
            wait(inner, length, hosts, isStart: false)
            return self.known[inner] ?? found
        }
        return found
    }

    /// A datagram is complete: all its fragments belong to the same.
    private mutating func settle(_ datagram: Int, _ content: Found) -> Found {
        if let before = known[datagram] {
            // It goes where its earlier fragments went.
            return before.ends == content.ends ? content : before
        }
        var found = content
        if content == .waiting(datagram: datagram) {
            // It claims to be a part of itself.
            found = Found(waiting[datagram]?.hosts)
        }
        var parts = found
        if case .segment = found, let ends = found.ends { parts = .part(ends) }
        known[datagram] = parts
        let byteCount = waiting[datagram]?.bytes ?? 0
        release(datagram, parts)
        if case .waiting(let inner) = found, byteCount > 0 {
            waiting[inner]?.bytes += byteCount
            waitingBytes += byteCount
        }
        return found
    }

    /// The fragments of a datagram wait no longer.
    private mutating func release(_ datagram: Int, _ found: Found) {
        guard let held = waiting.removeValue(forKey: datagram) else { return }
        waitingBytes -= held.bytes
        settled.append(Settled(datagram: datagram, found: found))
    }

    /// A datagram stays incomplete.
    private mutating func giveUp(_ datagram: Int) {
        known[datagram] = nil
        if let hosts = waiting[datagram]?.hosts { release(datagram, .other(hosts)) }
    }
}

extension FlowFinder.Found {
    /// Two hosts, if there are any.
    fileprivate init(_ hosts: ConnectionEnds?) {
        if let hosts { self = .other(hosts) } else { self = .nothing }
    }

    /// What decides where a packet of several goes comes first: a connection.
    fileprivate var rank: Int {
        switch self {
        case .segment, .part: 0
        case .waiting: 1
        case .other: 2
        case .nothing: 3
        }
    }

    /// The ends of what was found; nil if it has none, or if they are not known yet.
    package var ends: ConnectionEnds? {
        switch self {
        case .segment(let segment): ConnectionEnds(segment.source, segment.destination)
        case .part(let ends), .other(let ends): ends
        case .waiting, .nothing: nil
        }
    }
}

/// What IPv4's and IPv6's headers have in common.
private struct Header {
    let source: IPAddress
    let destination: IPAddress
    let protocolNumber: UInt8
    let length: Int
    let totalLength: Int?
    let fragment: FragmentPlace?

    /// Nil if the bytes do not begin with one of this layer.
    init?(_ layer: Layer, _ bytes: RawSpan) {
        if layer == .ipv4, let header = IPv4Header(bytes) {
            (source, destination) = (header.source, header.destination)
            (protocolNumber, length) = (header.protocolNumber, header.headerLength)
            (totalLength, fragment) = (header.totalLength, header.fragment)
        } else if layer == .ipv6, let header = IPv6Header(bytes) {
            (source, destination) = (header.source, header.destination)
            (protocolNumber, length) = (header.protocolNumber, header.headerLength)
            (totalLength, fragment) = (header.totalLength, header.fragment)
        } else {
            return nil
        }
    }
}

import Streams

/// The two ends of a connection, in a canonical order: the same for segments of both directions; and which leg it is.
struct FlowKey: Equatable {
    private var lowerHigh: UInt64
    private var lowerLow: UInt64
    private var upperHigh: UInt64
    private var upperLow: UInt64
    private var lowerPort: UInt16
    private var upperPort: UInt16
    private(set) var isIPv4: Bool
    /// Its leg; nil if the connection has only one.
    var leg: Leg?

    /// The key of a segment, and whether its source is the lower of the two ends.
    @inline(__always)
    static func of(
        _ source: Endpoint, _ destination: Endpoint, _ leg: Leg?
    ) -> (key: FlowKey, sourceIsLower: Bool) {
        let sourceIsLower = precedes(source, destination)
        return sourceIsLower
            ? (FlowKey(source, destination, leg), true) : (FlowKey(destination, source, leg), false)
    }

    /// The key of the connection's other leg; nil if it has only one.
    var otherLeg: FlowKey? {
        guard let leg else { return nil }
        var other = self
        other.leg = leg == .in ? .out : .in
        return other
    }

    @inline(__always)
    private init(_ lower: Endpoint, _ upper: Endpoint, _ leg: Leg?) {
        self.leg = leg
        (lowerHigh, lowerLow, lowerPort) = (lower.address.high, lower.address.low, lower.port)
        (upperHigh, upperLow, upperPort) = (upper.address.high, upper.address.low, upper.port)
        isIPv4 = lower.address.isIPv4
    }

    /// Packs it, and which end is the client.
    func pack(into numbers: inout PackedNumbers, _ clientIsLower: Bool) {
        var (copy, clientIsLower) = (self, clientIsLower)
        copy.pass(through: &numbers, &clientIsLower)
    }

    /// One that was packed, and which end is the client.
    static func unpacked(_ numbers: inout PackedNumbers) -> (key: FlowKey, clientIsLower: Bool) {
        let nowhere = Endpoint(IPAddress(v4: 0), 0)
        var (key, clientIsLower) = (FlowKey(nowhere, nowhere, nil), false)
        key.pass(through: &numbers, &clientIsLower)
        return (key, clientIsLower)
    }

    private mutating func pass(through numbers: inout PackedNumbers, _ clientIsLower: inout Bool) {
        var (hasLeg, isOut) = (leg != nil, leg == .out)
        numbers.pass(&isIPv4)
        numbers.pass(&clientIsLower)
        numbers.pass(&hasLeg)
        numbers.pass(&isOut)
        leg = hasLeg ? isOut ? .out : .in : nil
        numbers.pass(&lowerLow)
        numbers.pass(&upperLow)
        if !isIPv4 {
            numbers.pass(&lowerHigh)
            numbers.pass(&upperHigh)
        }
        numbers.pass(&lowerPort)
        numbers.pass(&upperPort)
    }

    @inline(__always)
    private static func precedes(_ left: Endpoint, _ right: Endpoint) -> Bool {
        if left.address.low != right.address.low { return left.address.low < right.address.low }
        if left.port != right.port { return left.port < right.port }
        return left.address.high <= right.address.high
    }

    /// Whether two keys are the same.
    @inline(__always)
    static func == (left: FlowKey, right: FlowKey) -> Bool {
        left.lowerLow == right.lowerLow && left.upperLow == right.upperLow && left.lowerPort == right.lowerPort
            && left.upperPort == right.upperPort && left.lowerHigh == right.lowerHigh
            && left.upperHigh == right.upperHigh && left.isIPv4 == right.isIPv4 && left.leg == right.leg
    }

    /// A hash that the author of a capture cannot predict, as long as `seed` is random.
    @inline(__always)
    func hash(_ seed: UInt64) -> UInt64 {
        let ports = UInt64(lowerPort) << 16 | UInt64(upperPort)
        // No factor may be one that an address can make 0, and no two products may cancel each other: addresses are chosen by others.
        let other = seed.byteSwapped
        var mixed = FlowKey.fold(lowerLow ^ seed, upperLow ^ other)
        if !isIPv4 { mixed = FlowKey.fold(mixed ^ lowerHigh, upperHigh ^ other) }
        if leg == .out { mixed = ~mixed }
        return FlowKey.fold(mixed ^ ports, seed | 1)
    }

    /// The two halves of the product, folded: every bit depends on all bits of both.
    @inline(__always)
    private static func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }
}

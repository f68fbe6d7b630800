/// One of the two legs of a connection whose bytes the proxy may change on their way.
///
/// Each leg has both directions. A connection that no stage processes has only one leg, which is not named.
public enum Leg: String, Sendable, Hashable, CaseIterable {
    /// What both sides sent, as the proxy received it.
    case `in`
    /// What the proxy passed on to both sides.
    case out

    /// The interface on which a capture has the leg's packets.
    public var interfaceName: String { "frametap:\(rawValue)" }

    /// The leg whose packets a capture has on an interface; nil if the interface is none of the proxy's two.
    public init?(interfaceName: String) {
        guard let leg = Self.allCases.first(where: { $0.interfaceName == interfaceName }) else { return nil }
        self = leg
    }
}

/// A connection, or one of its two legs, as what recorders and traces keep by connection.
public struct ConnectionLeg: Hashable, Sendable, Comparable {
    /// The connection's number, from 1 in order of opening.
    public var number: Int
    /// Which leg; nil if the connection has only one.
    public var leg: Leg?

    /// A connection, or one of its legs.
    public init(_ number: Int, _ leg: Leg? = nil) {
        (self.number, self.leg) = (number, leg)
    }

    /// By number; what was passed on comes after what was received.
    public static func < (left: ConnectionLeg, right: ConnectionLeg) -> Bool {
        (left.number, left.leg == .out ? 1 : 0) < (right.number, right.leg == .out ? 1 : 0)
    }
}

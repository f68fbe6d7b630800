import Streams
import Trace

/// A connection of which nothing is held but a few bytes, until its next event: a million of them take little memory.
///
/// The first event makes a decoder of it again, which receives this and all later ones.
final class DormantConnection: ConnectionReceiver {
    private let dormancy: Dormancy
    /// What there is to know of it, packed; empty once it is awake.
    private var packed: [UInt8]
    /// The connection, if others know of it: then it is not packed.
    private var known: TracedConnection?
    private var decoder: ConnectionDecoder?

    init(_ dormancy: Dormancy, _ packed: [UInt8], _ known: TracedConnection?) {
        (self.dormancy, self.packed, self.known) = (dormancy, packed, known)
    }

    private func awake() -> ConnectionDecoder {
        if let decoder { return decoder }
        var numbers = PackedNumbers(packed, near: dormancy.start)
        let connection: TracedConnection
        if let known {
            connection = known
        } else {
            connection = TracedConnection(&numbers, dormancy.plan?.known, dormancy.choice)
            numbers = numbers.following
        }
        let decoder = ConnectionDecoder.awake(dormancy, &numbers, connection)
        (self.decoder, packed, known) = (decoder, [], nil)
        return decoder
    }

    func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
        awake().received(bytes, from: direction, at: time, packet: packet)
    }

    func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
        awake().missing(byteCount, from: direction, at: time)
    }

    func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {
        awake().noticed(notice, from: direction, at: time, packet: packet)
    }

    func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {
        awake().finished(ending, from: direction, at: time)
    }

    func closed(_ closing: Closing) { awake().closed(closing) }

    func dormant() -> (any ConnectionReceiver)? {
        guard let decoder else { return self }
        return decoder.dormant()
    }
}

/// What dormant connections of one format share.
final class Dormancy {
    let resources: ConnectionResources
    /// How they are framed; nil if their format is not looked for yet.
    let plan: FormatPlan?
    /// How their format was chosen.
    let choice: SharedChoice?
    /// A time that those of the connections are close to.
    let start: Timestamp

    init(_ resources: ConnectionResources, _ plan: FormatPlan?, _ choice: SharedChoice?, since start: Timestamp) {
        (self.resources, self.plan, self.choice, self.start) = (resources, plan, choice, start)
    }
}

import Framing
import Streams

/// The state of a connection that is checked for hazards.
final class HazardState {
    var sides = PerDirection(fromClient: HazardSide(), fromServer: HazardSide())
    /// Whether its format is known, so that its bytes are framed as they arrive.
    var isFramed = false
    /// Whether the last request left something in the buffer.
    var isKept = false
    /// What its client has sent that another one might send, too.
    var said: Set<SaidText> = []
    var receipts = OwedReceipts()
    /// How often each hazard was found.
    var reported: [Hazard: Int] = [:]
}

/// The state of one of its directions.
struct HazardSide {
    /// Where its chunks end.
    var ends = ChunkEnds()
    /// Up to which offset frames and unframed bytes have been reported.
    var reported = 0
    /// How long the last frame's head was; nil before the first frame.
    var head: Int?
    /// The unframed bytes after the last frame.
    var span: UnframedSpan?

    /// Which read brought the first byte of an incomplete frame; nil if none is held.
    var firstRead: Int? { ends.read(ofByteAt: reported) }
}

/// What a client of a server sends.
struct SaidText: Hashable {
    var server: Endpoint
    var bytes: [UInt8]
}

/// One server's reads from its clients in order of arrival, for the buffer that the clients would share.
struct ClientReads {
    /// Of reads of one connection in a row: the number of the last one, and the connection.
    private var rows: [(last: Int, connection: Int)] = []
    /// Where the reads that are remembered begin.
    private var first: Int
    /// Whether a client has left after the beginning of a frame.
    var isLeftOver = false
    /// The server's open connections.
    var connections: Set<Int> = []

    private static let most = 4_096

    init(first: Int) {
        self.first = first
    }

    /// A read.
    mutating func add(_ read: Int, on connection: Int) {
        if let last = rows.last, last.connection == connection {
            rows[rows.count - 1].last = read
            return
        }
        rows.append((read, connection))
        if rows.count > Self.most {
            first = rows[Self.most / 2].last + 1
            rows.removeFirst(Self.most / 2 + 1)
        }
    }

    /// Whether another connection has sent something between two reads of one.
    func isMixed(_ reads: ClosedRange<Int>) -> Bool {
        guard reads.lowerBound >= first else { return false }
        let row = rows.partitioningIndex { $0.last >= reads.lowerBound }
        return row < rows.count && rows[row].last < reads.upperBound
    }
}

extension Array {
    /// The index of the first element that fulfils a condition which holds for all after it, too.
    fileprivate func partitioningIndex(where holds: (Element) -> Bool) -> Int {
        var (lower, upper) = (0, count)
        while lower < upper {
            let middle = (lower + upper) / 2
            if holds(self[middle]) { upper = middle } else { lower = middle + 1 }
        }
        return lower
    }
}

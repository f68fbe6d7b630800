import Streams

/// Bytes that were not captured: they cost records, not the connection.
extension TLSConnection {
    /// Passes over bytes that are missing.
    mutating func passGap(_ count: Int, _ direction: Direction, _ context: Context) {
        if case .searching = sides[direction].mode { search(direction, isLast: true, context) }
        guard sides[direction].held.wait == nil else {
            sides[direction].held.add(.missing(count), context.arrival)
            return
        }
        loseMessages(direction, context)
        switch sides[direction].mode {
        case .ignored: sides[direction].position += count
        case .records:
            let header = sides[direction].reader.partialHeader
            let partial = sides[direction].reader.takeRecord().count
            if let header, partial + count <= header.recordLength {
                sides[direction].skipped = header
                passRest(header.recordLength - partial - count, direction)
            } else {
                startSearch(direction, at: sides[direction].position + partial + count)
            }
        case .skipping(let left) where count <= left:
            passRest(left - count, direction)
        case .skipping(let left):
            let length = sides[direction].skipped?.recordLength ?? 0
            startSearch(direction, at: sides[direction].position + length - left + count)
        case .searching:
            startSearch(direction, at: sides[direction].search.end + count)
        }
    }

    /// What a gap means for the handshake, and for keys.
    private mutating func loseMessages(_ direction: Direction, _ context: Context) {
        if sides[direction].phase == .plaintext { loseHello(direction, context) }
        passHandshake(direction, context)
        if sides[direction].recovery?.purpose == .lostEarlyData {
            reportUnrecovered(until: sides[direction].position, direction, context)
        }
        sides[direction].handshake.reset()
        if sides[direction].epoch < .application { sides[direction].ignoresHandshake = true }
        switch sides[direction].phase {
        case .encrypted: sides[direction].phase = .seeking
        case .seeking where sides[direction].recovery?.purpose == .gap: return
        case .plaintext where sides[direction].recovery != nil: return
        case .plaintext, .seeking: break
        case .opaque:
            sides[direction].hasOpaqueGap = true
            return
        case .lost: return
        }
        sides[direction].recovery = Recovery(.gap, at: sides[direction].position)
    }

    /// Begins to search for the next record.
    mutating func startSearch(_ direction: Direction, at offset: Int) {
        sides[direction].tail = []
        sides[direction].search.begin(at: offset)
        sides[direction].mode = .searching
        if sides[direction].phase == .lost {
            sides[direction].mode = .ignored
            sides[direction].position = offset
        }
    }

    /// Passes over the part of a damaged record that was captured.
    mutating func skip(_ bytes: RawSpan, _ at: inout Int, _ left: Int, _ direction: Direction) {
        let count = min(left, bytes.byteCount - at)
        sides[direction].tail.append(contentsOf: bytes.extracting(at..<at + count))
        sides[direction].tail = Array(sides[direction].tail.suffix(64))
        at += count
        finishSkip(left - count, direction)
    }

    private mutating func passRest(_ left: Int, _ direction: Direction) {
        sides[direction].tail = []
        finishSkip(left, direction)
    }

    private mutating func finishSkip(_ left: Int, _ direction: Direction) {
        guard left == 0 else {
            sides[direction].mode = .skipping(left)
            return
        }
        sides[direction].mode = .records
        if let header = sides[direction].skipped {
            passRecord(header, direction)
            sides[direction].position += header.recordLength
        }
        let tail = sides[direction].tail
        sides[direction].tail = []
        sides[direction].protection?.passed(tail.span.bytes)
    }

    /// Notes a record that is passed over, before its position is.
    mutating func passRecord(_ header: RecordHeader, _ direction: Direction) {
        let end = sides[direction].position + header.recordLength
        sides[direction].recovery?.pass(header, endingAt: end, isApplicationData: header.type == .applicationData)
    }
}

import Streams

/// Finding the next record after a gap.
extension TLSConnection {
    /// Searches the bytes that have come since a gap, and reads on where a record is found.
    ///
    /// - Parameter isLast: no more bytes follow before the next gap or the end.
    mutating func search(_ direction: Direction, isLast: Bool, _ context: Context) {
        // A loop, and in the same bytes: hostile ones make it lose the framing again after every record.
        while let (bytes, end) = findRecord(direction, isLast: isLast, context) {
            var at = end
            guard sides[direction].held.wait == nil else {
                sides[direction].held.add(bytes.span.bytes.extracting(at..<bytes.count), context.arrival)
                return
            }
            read(bytes.span.bytes, &at, direction, context)
            guard at < bytes.count else { return }
            sides[direction].search.goOn(in: bytes, from: at)
        }
    }

    /// Finds the next record among the bytes that are searched, and takes it.
    ///
    /// - Returns: these bytes, taken out of the search, and where in them the record ends; nil if there is none yet.
    private mutating func findRecord(
        _ direction: Direction, isLast: Bool, _ context: Context
    ) -> (bytes: [UInt8], end: Int)? {
        let wanted = self.wanted(direction)
        while let (header, range) = sides[direction].search.candidate(wanted, isLast: isLast) {
            let record = Array(sides[direction].search.bytes[range])
            let position = sides[direction].search.start + range.lowerBound
            chain(before: range.lowerBound, direction)
            if resumes(header, record.span.bytes, position, direction, context) {
                let bytes = sides[direction].search.take()
                sides[direction].mode = .records
                sides[direction].position = position
                if let wait = take(header, record.span.bytes, direction, context) {
                    hold(record.span.bytes, wait, direction, context)
                }
                if sides[direction.opposite].held.wait != nil { settle(context) }
                return (bytes, range.upperBound)
            }
            sides[direction].search.reject()
            guard sides[direction].phase == .seeking else { continue }
            sides[direction].recovery?.failures += 1
            if giveUpIfHopeless(direction, context) {
                sides[direction].mode = .ignored
                sides[direction].position = sides[direction].search.end
                sides[direction].search.begin(at: 0)
                return nil
            }
        }
        return nil
    }

    private func wanted(_ direction: Direction) -> RecordSearch.Wanted {
        let side = sides[direction]
        let isEncrypted = side.phase == .seeking
        let isTLS13 = state.isTLS13 || state.agreed == nil
        return RecordSearch.Wanted(
            version: side.phase == .plaintext ? nil : side.recordVersion, isApplicationData: isEncrypted && isTLS13,
            shortest: isEncrypted ? side.overhead : 1, needsSuccessor: !isEncrypted)
    }

    /// Whether a record lies at `position`: one that can be decrypted, or, without keys, one that another one follows.
    private func resumes(
        _ header: RecordHeader, _ record: RawSpan, _ position: Int, _ direction: Direction, _ context: Context
    ) -> Bool {
        switch sides[direction].phase {
        case .seeking: trial(header, record, candidates(header, direction, at: position, context)) != nil
        // That it has a successor was checked.
        case .plaintext, .opaque: true
        case .encrypted, .lost: false
        }
    }

    /// In TLS 1.0 the last block before a record is its IV.
    private mutating func chain(before end: Int, _ direction: Direction) {
        guard sides[direction].protection != nil else { return }
        let before = Array(sides[direction].search.bytes(before: end))
        sides[direction].protection?.passed(before.span.bytes)
    }
}

extension Side {
    /// How many bytes a record has at least besides its header and content.
    var overhead: Int { protection?.overhead ?? 17 }
}

import Streams

/// From bytes to records.
extension TLSConnection {
    /// Takes the next bytes of a direction.
    mutating func feed(_ bytes: RawSpan, _ direction: Direction, _ context: Context) {
        guard sides[direction].held.wait == nil else {
            sides[direction].held.add(bytes, context.arrival)
            return
        }
        var at = 0
        read(bytes, &at, direction, context)
        guard at < bytes.byteCount else { return }
        sides[direction].search.add(bytes.extracting(at..<bytes.byteCount))
        search(direction, isLast: false, context)
    }

    /// Reads on in a chunk, up to its end or to where a record has to be searched for.
    ///
    /// - Parameter at: where to continue; moves to where the search has to begin, or to the end of the chunk if it is used up or
    ///   its rest is held.
    mutating func read(_ bytes: RawSpan, _ at: inout Int, _ direction: Direction, _ context: Context) {
        while at < bytes.byteCount {
            switch sides[direction].mode {
            case .ignored:
                sides[direction].position += bytes.byteCount - at
                at = bytes.byteCount
            case .skipping(let left):
                skip(bytes, &at, left, direction)
            case .searching:
                return
            case .records:
                guard readRecord(bytes, &at, direction, context) else {
                    at = bytes.byteCount
                    return
                }
                // At once, so that the order of events does not depend on the segmentation.
                if sides[direction.opposite].held.wait != nil { settle(context) }
            }
        }
    }

    /// Reads one record; false if the chunk is used up, or its rest is held.
    private mutating func readRecord(
        _ bytes: RawSpan, _ at: inout Int, _ direction: Direction, _ context: Context
    ) -> Bool {
        let start = at
        switch sides[direction].reader.next(bytes, &at) {
        case .needsMore: return false
        case .inChunk(let header, let range):
            if let wait = take(header, bytes.extracting(range), direction, context) {
                hold(bytes.extracting(start..<bytes.byteCount), wait, direction, context)
                return false
            }
        case .buffered(let header):
            let record = sides[direction].reader.takeRecord()
            if let wait = take(header, record.span.bytes, direction, context) {
                hold(record.span.bytes, wait, direction, context)
                sides[direction].held.add(bytes.extracting(at..<bytes.byteCount), context.arrival)
                return false
            }
        case .notARecord(let found):
            let begun = sides[direction].reader.takeRecord()
            loseFraming(found, begun.span.bytes, direction, context)
        }
        return true
    }

    /// Takes a record; returns what it has to wait for, if it could not be read yet.
    mutating func take(
        _ header: RecordHeader, _ record: RawSpan, _ direction: Direction, _ context: Context
    ) -> HeldInput.Wait? {
        let mayWait = header.type == .changeCipherSpec || sides[direction].isPlaintext
        if mayWait, mustWait(header, direction) { return .record(header) }
        context.receiver.reads(
            record: sides[direction].counts.records + 1, endingAt: sides[direction].position + header.recordLength,
            from: direction)
        let wait: HeldInput.Wait? =
            switch sides[direction].phase {
            case .plaintext: takePlaintext(header, record, direction, context)
            case .encrypted: takeEncrypted(header, record, direction, context)
            case .seeking: takeSeeking(header, record, direction, context)
            case .opaque: takeOpaque(header, record, direction, context)
            case .lost: nil
            }
        guard wait == nil else { return wait }
        sides[direction].recordVersion = header.version
        sides[direction].position += header.recordLength
        sides[direction].counts.records += 1
        return nil
    }

    /// No record begins where one should.
    private mutating func loseFraming(
        _ found: [UInt8], _ begun: RawSpan, _ direction: Direction, _ context: Context
    ) {
        let side = sides[direction]
        if side.counts.records > 0, side.phase != .plaintext {
            // A record's length was damaged: as after a gap.
            if side.phase == .encrypted {
                fail("no record begins with \(Hexadecimal.text(found))", direction, context)
            }
            startSearch(direction, at: side.position)
            sides[direction].search.add(begun)
            return
        }
        sides[direction].mode = .ignored
        sides[direction].position += begun.byteCount
        loseHello(direction, context)
        let name =
            if case .unsupported(let name) = TLSBeginning(found.span.bytes), side.counts.records == 0 {
                name
            } else if side.counts.records == 0, found.first.map({ $0 & 0x80 != 0 }) == true, found[2] == 1 {
                "SSL 2.0 hello"
            } else {
                "no record begins with \(Hexadecimal.text(found))"
            }
        context.receiver.event(.unsupported(name), from: direction)
    }
}

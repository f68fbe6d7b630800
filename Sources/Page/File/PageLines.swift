import Framing

/// The lines of a trace as one JSON array, each frame with what its line does not have: its bytes, and its pair.
enum PageLines {
    /// The array.
    ///
    /// - Parameter most: about how many bytes of it frames, gaps and unframed bytes may take; those after are left out, and the first
    ///   line has their number as `omitted`.
    static func array(_ store: EventStore, most: Int) -> [UInt8] {
        let count = store.count
        let (kept, omitted) = choose(store, count, most: most)
        // Where the events that are kept are in the array; all in front of the first that is not are where they were.
        var places: [Int: Int] = [:]
        for (place, event) in kept.enumerated() where place != event { places[event] = place }
        let first = kept.enumerated().first { $0 != $1 }?.offset ?? kept.count
        func place(_ event: Int) -> Int? { event < first ? event : places[event] }

        var json = JSONText()
        json.array { json in
            for event in kept {
                guard let record = store.record(event) else { continue }
                var line = store.line(record)
                while let last = line.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "}") {
                    line.removeLast()
                    if last == UInt8(ascii: "}") { break }
                }
                var more = JSONText()
                if record.kind == .frame {
                    if let detail = store.detail(record) {
                        more.key("detail")
                        EventQuery.write(detail, record, of: store, to: &more)
                    }
                    let (other, took) = Pairs.of(record, in: store)
                    if other != nil {
                        more.key("pair")
                        Pairs.write(record, other, took, to: &more, place)
                    }
                } else if record.kind == .trace, omitted > 0 {
                    more.member("omitted", omitted)
                }
                if !more.bytes.isEmpty { line += Array(",".utf8) + more.bytes }
                json.raw(line + Array("}".utf8))
            }
        }
        return json.bytes
    }

    /// The events that are in the file, and how many are not.
    private static func choose(_ store: EventStore, _ count: Int, most: Int) -> (kept: [Int], omitted: Int) {
        var (kept, size, omitted): ([Int], Int, Int) = ([], 0, 0)
        for start in stride(from: 0, to: count, by: 4_096) {
            let records = store.records(start..<min(start + 4_096, count))
            for (offset, record) in records.enumerated() {
                switch record.kind {
                case .frame, .missing, .unframed, .dropped:
                    // Bytes are written as two digits each.
                    size += Int(record.lineLength) + 2 * Int(record.detailLength)
                    if size > most {
                        omitted += 1
                        continue
                    }
                default: break
                }
                kept.append(start + offset)
            }
        }
        return (kept, omitted)
    }
}

import Streams
import Testing

@testable import TLS

/// Bytes that are no records, among encrypted ones: the next record is found again, however many they are.
struct LostFramingTests {
    private func junk(_ count: Int) -> [UInt8] { [UInt8](repeating: 0xff, count: count) }

    /// The framing is lost again in the chunk in which a record was found, then 12 KiB come in pieces.
    @Test func `records are found after bytes that were forgotten`() throws {
        let conversation = try SealedConversation(records: 5, length: 100)
        let steps = conversation.steps(missing: 1..<1)
        let records = steps.suffix(4).compactMap { step -> [UInt8]? in
            if case .bytes(let bytes, .fromClient) = step { bytes } else { nil }
        }
        try #require(steps.count == 8 && records.count == 4)
        // The first record as it is; junk in place of the second and the fourth one.
        var damaged = Array(steps.prefix(3))
        damaged.append(.bytes(junk(8_000) + records[1] + junk(100), .fromClient))
        damaged += [Step](repeating: .bytes(junk(1_024), .fromClient), count: 12)
        damaged.append(.bytes(records[3], .fromClient))
        let log = run(damaged, conversation.keys).log
        #expect(plaintexts(log, .fromClient) == [0, 2, 4].map { [UInt8](repeating: $0, count: 100) })
    }

    /// What precedes a record, which may be its IV, is where it was, whatever was forgotten.
    @Test func `the bytes before a record are kept`() throws {
        let record: [UInt8] = [23, 3, 3, 0, 20] + [UInt8](repeating: 1, count: 20)
        let wanted = RecordSearch.Wanted(isApplicationData: true, shortest: 17, needsSuccessor: false)
        var search = RecordSearch()
        search.begin(at: 100)
        search.goOn(in: junk(5_100), from: 100)
        let nothing = search.candidate(wanted, isLast: false)?.1
        #expect(nothing == nil)
        #expect(search.heldBytes < 100)
        let more = junk(60) + record
        search.add(more.span.bytes)
        let place = try #require(search.candidate(wanted, isLast: false)?.1)
        #expect(search.start + place.lowerBound == 5_160)
        #expect(search.bytes(before: place.lowerBound).count == 64)
    }
}

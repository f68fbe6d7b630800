import Framing
import Streams
import Testing
import Trace

@testable import Control

/// What the control API keeps of a trace while it is recorded.
@Suite struct EventJournalTests {
    /// A frame with this many bytes of text in its body, and in a field.
    private func frame(_ index: Int, _ count: Int, field: Int = 0) -> TraceEvent {
        let time = Timestamp(nanoseconds: 0)
        func text(_ count: Int) -> JSONValue { .text(String(repeating: "x", count: count)) }
        let fields = JSONValue.object(field == 0 ? [] : [.init("text", text(field))])
        let body = JSONValue.object([.init("length", .number("\(count)")), .init("text", text(count))])
        return .frame(
            FrameEvent(
                connection: 1, from: .fromClient, index: index, time: time, started: time, offset: 0, length: count,
                segments: 1, merged: false, type: "line", isHeartbeat: false, fields: fields, body: body))
    }

    private func page(_ journal: EventJournal, from number: Int = 0) -> EventJournal.Page {
        journal.page(from: number, atMost: .max) { _ in true }
    }

    /// Large events are evicted by what they take, and small ones by their number.
    @Test func memoryIsBounded() {
        let journal = EventJournal(most: 1_000, limit: 1 << 20)
        for index in 0..<200 {
            journal.take(frame(index, 100_000))
            if index.isMultiple(of: 7) { journal.publish() }
        }
        journal.publish()
        let large = page(journal)
        #expect(large.events.map(\.number) == Array(190..<200), "ten times 100,000 bytes, and what is beside them")
        #expect(large.missed == 190 && large.next == 200 && large.latest == 200)
        let rest = page(journal, from: 195)
        #expect(rest.events.map(\.number) == Array(195..<200) && rest.missed == 0)
        for index in 200..<2_000 { journal.take(frame(index, 10)) }
        journal.publish()
        let small = page(journal, from: 195)
        #expect(small.events.map(\.number) == Array(1_000..<2_000) && small.missed == 805)
        let indexes = small.events.compactMap { if case .frame(let frame) = $0.event { frame.index } else { nil } }
        #expect(indexes == Array(1_000..<2_000), "each has kept its number")
    }

    /// Their heads may be larger than their bodies.
    @Test func fieldsCountAsBodiesDo() {
        let journal = EventJournal(most: 1_000, limit: 1 << 20)
        for index in 0..<50 { journal.take(frame(index, 0, field: 100_000)) }
        journal.publish()
        #expect(page(journal).events.map(\.number) == Array(40..<50))
    }

    @Test func theLastEventStaysHoweverLargeItIs() {
        let journal = EventJournal(limit: 1_000)
        for index in 0..<3 { journal.take(frame(index, 5_000)) }
        journal.publish()
        #expect(page(journal).events.map(\.number) == [2] && page(journal).missed == 2)
    }
}

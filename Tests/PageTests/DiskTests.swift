import Platform
import Streams
import TestSupport
import Testing
import Trace

@testable import Page

#if os(Linux)
/// What becomes of events when the disk is full.
@Suite struct DiskTests {
    private func full() throws -> TemporaryFile { try TemporaryFile(opening: "/dev/full") }

    @Test func aFullDiskLosesEventsOnly() throws {
        let store = EventStore(data: try full(), index: try full(), lists: try full())
        var items = try MadeUp.items([MadeUp.opened(1), MadeUp.frame(1), MadeUp.frame(1, index: 1)])
        items.append(PageItem(.report([1])))
        items.append(PageItem(.end))
        store.take(items)
        #expect(store.count == 0)
        #expect(store.read { $0.missed } == 3)
        #expect(store.read { $0.isFinished } && store.read { $0.report } == [1])
        // Numbers that are given again do not lead to frames that are not there.
        #expect(store.frame(0, of: 1, .fromClient) == nil)
    }

    @Test func numbersThatWereNotWrittenAreForgotten() throws {
        var writer = StoreWriter()
        for item in try MadeUp.items([MadeUp.opened(1), MadeUp.frame(1)]) {
            if case .event(let event) = item.content { _ = writer.entry(of: event, nil) }
        }
        #expect(writer.event(of: 1, .fromClient, index: 0) == 1)
        writer.discard(from: 0)
        #expect(writer.event(of: 1, .fromClient, index: 0) == nil)
        #expect(writer.number == 0 && writer.data.isEmpty)
    }

    @Test func aListThatCannotBeWrittenStaysSmall() throws {
        var list = NumberList(file: try full())
        var failures = 0
        for number in 0..<UInt32(20_000) {
            do { try list.append(number) } catch { failures += 1 }
        }
        #expect(list.count == NumberList.most && failures == 20_000 - NumberList.most)
        #expect(list[0..<20_000] == Array(0..<UInt32(NumberList.most)))
    }
}
#endif

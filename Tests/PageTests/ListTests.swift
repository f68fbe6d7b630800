import Control
import Framing
import NIOHTTP1
import Streams
import Synchronization
import Testing
import Trace

@testable import Page

/// Lists of events and of connections, and what is looked for in the background.
@Suite struct ListTests {
    /// Work that is done when the test says so.
    private final class Background: Sendable {
        private let waiting = Mutex<[@Sendable () -> Void]>([])

        func submit(_ work: @escaping @Sendable () -> Void) { waiting.withLock { $0.append(work) } }

        /// Does what waits; returns how much it was.
        func run() -> Int {
            let work = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting
            }
            for item in work { item() }
            return work.count
        }
    }

    private func store(frames: Int) throws -> EventStore {
        let store = try EventStore()
        store.take(try MadeUp.items([MadeUp.opened(1)] + (0..<frames).map { MadeUp.frame(1, index: $0) }))
        return store
    }

    @Test func aSearchTakesTurns() throws {
        let store = try store(frames: 5_000)
        var key = SearchKey()
        key.filter = "length == 1"
        let (search, background) = (Search(key, try FrameFilter(key.filter), in: store), Background())
        search.goOn(turn: .zero) { background.submit($0) }
        search.goOn(turn: .zero) { background.submit($0) }
        var turns = 0
        while background.run() == 1 { turns += 1 }
        #expect(turns >= 4 && search.progress.matches == 5_000)
        // It can go on again when there is more.
        search.goOn(turn: .zero) { background.submit($0) }
        #expect(background.run() == 1 && background.run() == 0)
    }

    @Test func aSearchThatNobodyRemembersEnds() throws {
        let store = try store(frames: 5_000)
        let (searches, background) = (Searches(store), Background())
        var key = SearchKey()
        key.filter = "length == 1"
        let search = try searches.search(key)
        search.goOn(turn: .zero) { background.submit($0) }
        #expect(background.run() == 1)
        for other in 0..<Searches.most {
            key.filter = "length == \(other + 2)"
            _ = try searches.search(key)
        }
        while background.run() > 0 {}
        #expect(search.progress.searched < store.count)
    }

    /// Connections beyond those that are listed can be looked for, too.
    @Test func connectionsThatAreNotListedAreFound() async throws {
        let page = try Page(isLive: false)
        let last = StoreState.mostConnections + 10
        for first in stride(from: 1, through: last, by: 4_096) {
            page.store.take(
                (first...min(first + 4_095, last)).map { number in
                    PageItem(
                        .event(
                            .missing(
                                RunEvent(
                                    connection: number, from: .fromClient, time: Timestamp(nanoseconds: Int64(number)),
                                    offset: 0, length: 1))))
                })
        }
        let router = PageRouter(page: page, safety: ShownTrace.safety, actions: nil, capture: nil)
        for number in [1, StoreState.mostConnections, last] {
            let rows = try await router.rows("frames", [("connection", "\(number)"), ("kinds", "missing")])
            #expect(rows.compactMap { $0["connection"]?.integer } == [number])
        }
        #expect(try await router.rows("frames", [("connection", "\(last + 1)"), ("kinds", "missing")]).isEmpty)

        // One connection, wherever it is in the list; and none.
        let one = try await router.get("connections", [("connection", "\(StoreState.mostConnections)")])
        #expect(one["total"]?.integer == 1)
        for number in [0, last] {
            let none = try await router.get("connections", [("connection", "\(number)")])
            #expect(none["total"]?.integer == 0 && none["rows"].items.isEmpty)
        }
        // Of many connections, an order is kept as long as there is nothing new.
        let (orders, store) = (page.orders, page.store)
        let order = orders.listing(by: .opened, nil, in: store)
        #expect(order.places == Array(0..<StoreState.mostConnections) && order.searched == order.events)
        let clock = ContinuousClock()
        let again = clock.measure { #expect(orders.listing(by: .opened, nil, in: store).places == order.places) }
        #expect(again < .milliseconds(100))
        page.end()
    }

    /// With many connections, an order may be that of a moment ago. Then it says so, and the next one has all events.
    @Test func anOrderSaysWhatItDoesNotTakeIntoAccount() async throws {
        let page = try Page(isLive: true)
        let router = PageRouter(page: page, safety: ShownTrace.safety, actions: nil, capture: nil)
        let count = ConnectionOrders.kept.connections + 10
        page.store.take(try MadeUp.items((1...count).map { MadeUp.opened($0) }))
        func ask() async throws -> (last: Int?, isWhole: Bool) {
            let query = [("sort", "frames"), ("from", "\(count - 1)")]
            let answer = try await router.get("connections", query)
            let events = try #require(answer["events"]?.integer)
            return (answer["rows"].items.first?["connection"]?.integer, answer["searched"]?.integer == events)
        }
        var answer = try await ask()
        #expect(answer.last == count && answer.isWhole)
        page.store.take(try MadeUp.items([MadeUp.frame(1)]))
        answer = try await ask()
        #expect(answer.last == (answer.isWhole ? 1 : count))
        let deadline = ContinuousClock.now + .seconds(60)
        while !answer.isWhole, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(50))
            answer = try await ask()
        }
        #expect(answer.last == 1 && answer.isWhole)
        page.end()
    }

    @Test func numbersOfConnectionsMayHaveGaps() async throws {
        let shown = try await MadeUp.trace([
            MadeUp.opened(7, client: "10.0.0.7:1"), MadeUp.opened(900, client: "Host-A:1"), MadeUp.opened(12),
        ])
        for number in [7, 900, 12] {
            let rows = try await shown.router.rows("connections", [("connection", "\(number)")])
            #expect(rows.compactMap { $0["connection"]?.integer } == [number])
        }
        let found = try await shown.router.rows("connections", [("search", "HOST-a")])
        #expect(found.compactMap { $0["connection"]?.integer } == [900])
    }

    @Test func framesSayWhatIsMissing() async throws {
        let shown = try await MadeUp.trace([
            MadeUp.opened(1), MadeUp.frame(1, body: "{\"length\":9,\"missing\":4}"), MadeUp.frame(1, index: 1),
        ])
        let rows = try await shown.router.rows("frames")
        #expect(rows.map { $0["missing"]?.integer } == [4, 0])
    }

    /// A frame without a type has no field that only repeats it.
    @Test func framesWithoutATypeShowTheirNumbers() async throws {
        let line = MadeUp.frame(1, fields: "{\"id\":7,\"ok\":true,\"none\":null}")
        let shown = try await MadeUp.trace([MadeUp.opened(1), line.replacing("\"type\":\"a\"", with: "\"type\":null")])
        #expect(try await shown.router.rows("frames").map { $0["preview"]?.string } == ["id=7 ok=true"])
    }

    /// A script of everything names the format of the first connection that has one.
    @Test func aScriptNamesAFormat() async throws {
        let shown = try await MadeUp.trace(
            [MadeUp.opened(1)]
                + (2...9).flatMap { number in
                    [
                        MadeUp.opened(number, at: Int64(number)), MadeUp.format(number, "format-\(number)"),
                        MadeUp.frame(number, at: Int64(number)), MadeUp.closed(number, at: Int64(number)),
                    ]
                })
        #expect(try await shown.saved("as=torture").hasSuffix(" --format format-2\n"))
        #expect(try await shown.saved("as=torture&from=5").hasSuffix(" --format format-5\n"))
        #expect(try await shown.saved("as=torture&connection=1").hasSuffix("\"$trace\"\n"))
    }

    /// What is saved is written in pieces, each of which fits in memory.
    @Test func aSavedTraceIsWrittenInPieces() async throws {
        let body = "{\"length\":60000,\"text\":\"\(String(repeating: "x", count: 60_000))\"}"
        let shown = try await MadeUp.trace(
            [MadeUp.opened(1)] + (0..<100).map { MadeUp.frame(1, index: $0, body: body) })
        let response = try await shown.router.response("/api/v1/page/save?as=trace")
        let sizes = Sizes()
        if let follow = response.follow { try await follow { await sizes.add($0.count) } }
        let all = await sizes.all
        #expect(all.reduce(0, +) > 6_000_000 && all.allSatisfy { $0 < 1 << 21 })
    }

    private actor Sizes {
        var all: [Int] = []
        func add(_ size: Int) { all.append(size) }
    }
}

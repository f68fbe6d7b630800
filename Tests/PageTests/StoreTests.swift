import Foundation
import Framing
import Packets
import Platform
import Streams
import TestSupport
import Testing
import Trace

@testable import Page

/// What is stored is what was traced, and memory is bounded.
@Suite struct StoreTests {
    /// A trace read from lines has no bytes: its secrets are known by how the lines show them.
    @Test func framesWithSecretsAreMarked() throws {
        let fields = [("{}", false), ("{\"password\":\"«secret»\"}", true), ("{\"password\":\"«secre»\"}", false)]
        for (fields, isSecret) in fields {
            let store = try EventStore()
            store.take(try MadeUp.items([MadeUp.opened(1), MadeUp.frame(1, fields: fields)]))
            let record = try #require(store.records(0..<store.count).last)
            let row = try JSONValue(parsing: store.row(record).span.bytes)
            #expect(row["secret"]?.boolean == isSecret, "\(fields)")
        }
    }

    @Test(arguments: Fixture.all) func linesAreThoseOfTheTrace(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture)
        let store = shown.page.store
        let records = store.records(0..<store.count)
        #expect(records.count == shown.lines.count)
        for (record, line) in zip(records, shown.lines) {
            #expect(String(decoding: store.line(record), as: UTF8.self) == line.text + "\n")
            #expect(record.kind.name == line.event)
            let row = try JSONValue(parsing: store.row(record).span.bytes)
            #expect(row["kind"]?.string == line.event)
            #expect(row["connection"]?.integer == line.connection)
            #expect(row["from"]?.string ?? "" == (line.event == "closed" ? line["by"] ?? "" : line.from))
            guard line.event == "frame" else { continue }
            #expect(row["type"]?.string == line["type"])
            #expect(row["index"]?.integer == line[number: "index"])
            #expect(row["length"]?.integer == line[number: "length"])
            #expect(row["segments"]?.integer == line[number: "segments"])
        }
    }

    @Test(arguments: Fixture.all) func framesHaveTheirBytesAndTheirCuts(_ fixture: Fixture) async throws {
        let shown = try await ShownTrace(fixture, showsSecrets: true)
        let store = shown.page.store
        let log = StreamEventLog()
        var capture = CaptureDecoder(receiver: log)
        var reader = CaptureReader(CaptureBytes(try fixture.bytes()))
        try reader.read(to: &capture)
        capture.finish()
        var count = 0
        for record in store.records(0..<store.count) where record.kind == .frame {
            let detail = try #require(store.detail(record))
            let from = try #require(record.from)
            #expect(!detail.isHidden)
            guard detail.missing == 0, !detail.isTransformed, !detail.isTruncated else {
                continue
            }
            let stream = log.bytes(of: Int(record.connection), from: from)
            let range = detail.offset..<detail.offset + Int(record.length)
            guard range.upperBound <= stream.count else { continue }
            count += 1
            #expect(detail.bytes == Array(stream[range]))
            #expect(detail.cuts.count == detail.segments)
            #expect(detail.cuts.first?.at == 0)
            #expect(zip(detail.cuts, detail.cuts.dropFirst()).allSatisfy { $0.at < $1.at && $0.packet <= $1.packet })
            #expect(detail.cuts.last.map { $0.at < detail.bytes.count && $0.packet == detail.packet } == true)
            #expect(detail.cuts.last?.time.nanoseconds == record.time)
        }
        #expect(count > 0 || !shown.lines.contains { $0.event == "frame" })
    }

    @Test func aDetailIsReadAsItWasWritten() throws {
        var generator = SeededGenerator(seed: 4)
        for _ in 0..<200 {
            var detail = FrameDetail()
            detail.bytes = (0..<Int.random(in: 0...300, using: &generator)).map { _ in
                .random(in: 0...255, using: &generator)
            }
            detail.isHidden = .random(using: &generator)
            detail.isTruncated = .random(using: &generator)
            detail.isTransformed = .random(using: &generator)
            detail.isMerged = .random(using: &generator)
            detail.isStreamed = .random(using: &generator)
            detail.shape = FrameShape(head: 3, body: .random(in: 0...9_999, using: &generator), tail: 2)
            detail.shape.layout = 1
            detail.shape.recalled = Bool.random(using: &generator) ? Int32.random(in: -9...9, using: &generator) : nil
            (detail.offset, detail.missing, detail.segments, detail.packet) = (1 << 40, 7, 3, 99)
            detail.started = Timestamp(nanoseconds: -5)
            detail.cuts = (0..<Int.random(in: 0...5, using: &generator)).map {
                FrameDetail.Cut(at: $0, time: Timestamp(nanoseconds: Int64($0)), packet: $0)
            }
            var bytes: [UInt8] = []
            detail.append(to: &bytes)
            #expect(FrameDetail(bytes) == detail)
            #expect(FrameDetail(Array(bytes.prefix(80))) == nil)
        }
    }

    @Test func longListsAreInFiles() throws {
        var (list, model) = (NumberList(), [UInt32]())
        var generator = SeededGenerator(seed: 1)
        var next: UInt32 = 0
        for _ in 0..<20_000 {
            next += .random(in: 1...5, using: &generator)
            try list.append(next)
            model.append(next)
        }
        #expect(list.count == model.count)
        for _ in 0..<300 {
            let start = Int.random(in: 0...model.count, using: &generator)
            let end = Int.random(in: start...model.count, using: &generator)
            #expect(list[start..<end] == Array(model[start..<end]))
            let number = UInt32.random(in: 0...next + 5, using: &generator)
            #expect(list.place(of: number) == model.firstIndex { $0 >= number } ?? model.count)
        }
        #expect(list[model.count - 1..<model.count + 50] == [next])
    }

    @Test func listsOfConnectionsShareAFile() throws {
        let file = try TemporaryFile()
        var (end, lists, models) = (
            Int64(0), [EventList](repeating: EventList(), count: 3), [[UInt32]](repeating: [], count: 3)
        )
        var generator = SeededGenerator(seed: 2)
        for event in 0..<5_000 {
            let place = Int.random(in: 0..<3, using: &generator)
            var record = EventRecord()
            (record.time, record.name, record.rawKind) = (Int64(event), UInt32(event % 65_536), 4)
            lists[place].append(ListEntry(record, event: UInt32(event)), to: file, &end)
            models[place].append(UInt32(event))
        }
        for (list, model) in zip(lists, models) {
            #expect(list.count == model.count)
            for start in [0, 1, 63, 64, 65, model.count - 1, model.count] {
                var read: [UInt32] = []
                list.read(from: start, in: file) { place, entries in
                    #expect(place == start + read.count)
                    read += entries.map(\.event)
                    return true
                }
                #expect(read == Array(model[start...]))
            }
            for event in stride(from: UInt32(0), to: 5_001, by: 37) {
                #expect(list.place(of: event, in: file) == model.firstIndex { $0 >= event } ?? model.count)
            }
        }
    }

    @Test func ratesKeepTheirSum() {
        var generator = SeededGenerator(seed: 3)
        var rates = Rates(start: 1_000)
        var sums = [0, 0]
        for _ in 0..<5_000 {
            let side = Int.random(in: 0...1, using: &generator)
            rates.add(side, at: 1_000 + Int64.random(in: -5...1 << 44, using: &generator))
            sums[side] += 1
            #expect(rates.counts.allSatisfy { $0.count <= Rates.most })
        }
        #expect(rates.counts.map { $0.reduce(0) { $0 + Int($1) } } == sums)
    }

    @Test func histogramsAreCloseToWhatTheyCounted() {
        var generator = SeededGenerator(seed: 5)
        var (histogram, times) = (TimeHistogram(), [Int64]())
        for _ in 0..<3_000 {
            times.append(Int64(exp(Double.random(in: 0...24, using: &generator))))
            histogram.add(times[times.count - 1])
        }
        times.sort()
        #expect(histogram.minimum == times.first && histogram.maximum == times.last && histogram.count == times.count)
        for percentile in [50.0, 90, 99] {
            let exact = times[Int((Double(times.count) * percentile / 100).rounded(.up)) - 1]
            let found = histogram.percentile(percentile)
            #expect(abs(Double(found - exact)) <= max(1_000, Double(exact) * 0.05))
        }
        #expect(histogram.coarse.reduce(0) { $0 + $1.count } == times.count)
        #expect(zip(histogram.coarse, histogram.coarse.dropFirst()).allSatisfy { $0.upper <= $1.lower * 1.000001 })
    }

    @Test func namesAndChunksAreBounded() {
        var table = NameTable()
        for number in 0..<NameTable.most + 100 { _ = table.number(of: "type \(number)") }
        #expect(table.names.count <= NameTable.most + 1)
        #expect(table.number(of: "another") == table.number(of: "and another"))
        var chunks = ChunkPlaces()
        for number in 0..<10_000 {
            chunks.append(
                TracedChunk(
                    direction: .fromClient, range: number..<number + 1, time: Timestamp(nanoseconds: 0), packet: number)
            )
        }
        let cuts = chunks.cuts(of: 0..<10_000)
        #expect(cuts.count == FrameDetail.mostCuts && cuts[0].packet == 0 && cuts[cuts.count - 1].packet == 9_999)
        #expect(chunks.cuts(of: 10_000..<10_001).isEmpty)
    }

    @Test func aLiveQueueLosesAndCounts() async throws {
        let queue = PageQueue(.loses, items: 100, cost: 1 << 20)
        let gap = TraceEvent.missing(
            RunEvent(connection: 1, from: .fromClient, time: Timestamp(nanoseconds: 0), offset: 0, length: 1))
        for _ in 0..<250 { queue.put(PageItem(.event(gap))) }
        queue.put(PageItem(.end))
        let batch = try #require(queue.take())
        #expect(batch.lost == 150 && batch.items.count == 101)
        #expect(queue.take() == nil)
    }

    @Test func aQueueOfFilesLosesNothing() async throws {
        let page = try Page(isLive: false, queued: (8, 1 << 20))
        for number in 1...2_000 {
            let gap = RunEvent(
                connection: number, from: .fromClient, time: Timestamp(nanoseconds: 0), offset: 0, length: 1)
            page.queue.put(PageItem(.event(.missing(gap))))
        }
        page.queue.put(PageItem(.end))
        try await page.waitUntilFinished()
        #expect(page.store.count == 2_000)
        #expect(page.store.read { $0.missed } == 0)
    }
}

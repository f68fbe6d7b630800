import Framing
import Streams
import TestSupport
import Testing
import Trace

@testable import Tables

/// Rows become columns, whichever way they come.
@Suite struct TableFilesTests {
    private struct Row {
        var table: Table
        var time: Timestamp
        var connection: Int
        /// As a Parquet file has them.
        var values: [ParquetReader.Value?]
    }

    private static func key(_ connection: Int) -> [UInt8] { Array("connection \(connection)".utf8) }

    private static func number(_ generator: inout SeededGenerator) -> Int64? {
        // The least one stands for null in a buffer.
        Int.random(in: 0..<4, using: &generator) == 0
            ? nil : max(.min + 1, Int64(bitPattern: generator.next()) >> Int64.random(in: 0..<64, using: &generator))
    }

    /// Appends a random row to a buffer; returns it.
    private static func append(
        to rows: inout RowBuffer, _ table: Table, _ connection: Int, at time: Timestamp,
        _ generator: inout SeededGenerator
    ) -> Row {
        var row = Row(table: table, time: time, connection: connection, values: [.text("connection \(connection)")])
        let start = rows.begin(table, at: time)
        for column in table.columns {
            switch column.form {
            case .boolean:
                let value = Bool.random(using: &generator)
                rows.boolean(value)
                row.values.append(.boolean(value))
            case .integer:
                let value = number(&generator)
                rows.integer(value.map { Int($0) })
                row.values.append(value.map { .integer($0) })
            case .time:
                let value = number(&generator)
                rows.integer(value.map { Int($0) })
                row.values.append(value.map { .integer($0 >= 0 ? $0 / 1_000 : ($0 + 1) / 1_000 - 1) })
                row.values.append(value.map { .integer($0) })
            case .duration:
                let value = number(&generator)
                rows.integer(value.map { Int($0) })
                row.values.append(value.map { .integer($0) })
                row.values.append(value.map { .number(Double($0) / 1e9) })
            case .text:
                let length = [0, 1, 3, 4, 7, 8, 16, 17, 40][Int.random(in: 0..<9, using: &generator)]
                let text = String(repeating: "\(generator.next() & 3)", count: length)
                let isNull = Int.random(in: 0..<4, using: &generator) == 0
                rows.text(isNull ? nil : text)
                row.values.append(isNull ? nil : .text(text))
            }
        }
        rows.end(start)
        return row
    }

    private static func time(_ generator: inout SeededGenerator) -> Timestamp {
        Timestamp(nanoseconds: Int64.random(in: -3...3, using: &generator) * 80_000_000_000_000)
    }

    @Test(arguments: 0..<21) func rowsAreReadBack(round: UInt64) throws {
        let seed = 0x7ab1ef + round
        var generator = SeededGenerator(seed: seed)
        let memory = TableSinkTests.Memory()
        let files = TableFiles(FileName("t", isSplit: false), application: "test", create: memory.create)
        var expected: [String: [[ParquetReader.Value?]]] = [:]
        for connection in 0..<Int.random(in: 1...60, using: &generator) {
            // Of a few connections, all together; now and then one comes back.
            let number = Int.random(in: 0..<5, using: &generator) == 0 ? connection / 2 : connection
            let only = Bool.random(using: &generator) ? Table.allCases.randomElement(using: &generator) : nil
            let day = Bool.random(using: &generator) ? Self.time(&generator) : nil
            // Enough for several batches of columns, now and then.
            let most = round % 10 == 0 && connection < 3 ? 4_000 : 40
            var rows = RowBuffer()
            for _ in 0..<Int.random(in: most / 2...most, using: &generator) {
                guard let table = only ?? Table.allCases.randomElement(using: &generator) else { continue }
                let time = day ?? Self.time(&generator)
                let row = Self.append(to: &rows, table, number, at: time, &generator)
                expected["\(table.name)/day=\(Day(of: row.time).text)/t.parquet", default: []].append(row.values)
            }
            if let only {
                files.append(rows, in: only, isFinal: true, of: Self.key(number), number)
            } else {
                files.append(rows.bytes.span.bytes, isFinal: true, of: Self.key(number), number)
            }
        }
        #expect(Set(files.finish().map(\.path)) == Set(expected.keys), "seed \(seed)")
        for (path, rows) in expected {
            #expect(try ParquetReader(memory.files[path]?.bytes ?? []).rows == rows, "seed \(seed), \(path)")
        }
    }

    /// Of many rows of one connection, groups and batches begin and end anywhere, and a column may have nulls in some of them only.
    @Test(arguments: 0..<4) func manyRowsOfOneConnection(round: UInt64) throws {
        let seed = 0x9a11 + round
        var generator = SeededGenerator(seed: seed)
        let memory = TableSinkTests.Memory()
        let files = TableFiles(FileName("t", isSplit: false), application: "test", create: memory.create)
        let time = Timestamp(nanoseconds: 0)
        var expected: [[ParquetReader.Value?]] = []
        // Of legs and times, whole batches are null, some are not, and some are mixed.
        for part in 0..<24 {
            var rows = RowBuffer()
            for number in 0..<Int.random(in: 500...2_000, using: &generator) {
                let isNull = part % 3 == Int(round) % 3 || part % 3 == 1 && number % 2 == 0
                let leg = isNull ? nil : "in"
                let text = String(repeating: "x", count: Int.random(in: 0...200, using: &generator))
                rows.append(.findings, at: time) {
                    $0.text(leg)
                    $0.text("client")
                    $0.integer(isNull ? nil : number)
                    $0.text("kind")
                    $0.text("info")
                    $0.text(text)
                    $0.text("{}")
                }
                expected.append([
                    .text("connection 1"), leg.map { .text($0) }, .text("client"),
                    isNull ? nil : .integer(Int64(number / 1_000)), isNull ? nil : .integer(Int64(number)),
                    .text("kind"), .text("info"), .text(text), .text("{}"),
                ])
            }
            files.append(rows, in: .findings, isFinal: true, of: Self.key(1), 1)
        }
        let path = try #require(files.finish().map(\.path).first)
        let reader = try ParquetReader(memory.files[path]?.bytes ?? [])
        #expect(reader.rows == expected, "seed \(seed)")
        #expect(reader.groups > 1)
    }

    /// Rows of one day are known to be; of several, they are not taken for rows of the last.
    @Test func days() {
        var rows = RowBuffer()
        #expect(rows.onlyDay == nil)
        for (day, only) in [(1, 1), (1, 1), (2, nil), (1, nil)] as [(Int64, Int64?)] {
            let start = rows.begin(.findings, at: Timestamp(seconds: day * 86_400, nanoseconds: 5))
            rows.end(start)
            #expect(rows.onlyDay == only.map { Day(number: $0) })
        }
        rows.removeAll()
        #expect(rows.onlyDay == nil && rows.count == 0)
    }

    /// Short values are compared without looking at the dictionary: all their bytes count.
    @Test func valuesThatDifferInOneByte() {
        var dictionary = ValueDictionary()
        for length in 0...20 {
            for changed in 0..<max(1, length) {
                var value = Array(repeating: UInt8(7), count: length)
                if length > 0 { value[changed] = 8 }
                let index = dictionary.index(of: value.span.bytes)
                #expect(index == dictionary.count - 1, "length \(length), byte \(changed)")
                #expect(dictionary.index(of: value.span.bytes) == index)
            }
        }
    }

    /// Numbers of packets and connections mean nothing in a table; numbers of other things, and texts by such a name, do.
    @Test func numbersOfOneTraceAreLeftOut() {
        let left = ["packet", "lastPacket", "requestPacket", "oldestPacket", "sentPacket", "firstConnection"]
        let kept = ["packed", "lastPackeT", "first", "connections", "requestNumber", "firstconnection", "newestPacket"]
        let data =
            left.map { Field($0, .integer(1)) } + kept.map { Field($0, .integer(2)) } + [Field("packet", .text("a"))]
        let finding = Finding(
            kind: .heartbeatGap, severity: .info, connection: 1, format: nil, from: .fromClient,
            time: Timestamp(nanoseconds: 0), message: "", data: data)
        var bytes: [UInt8] = []
        finding.writeData(into: &bytes)
        let members = kept.map { "\"\($0)\":2" } + ["\"packet\":\"a\""]
        #expect(String(decoding: bytes, as: UTF8.self) == "{\(members.joined(separator: ","))}")
    }
}

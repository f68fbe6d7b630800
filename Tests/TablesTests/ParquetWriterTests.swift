import Streams
import TestSupport
import Testing
import Trace

@testable import Tables

/// What is written is read back, by the format's specification.
@Suite struct ParquetWriterTests {
    private static let kinds: [ParquetColumn.Kind] = [.boolean, .integer, .timestamp, .number, .text, .name]

    private func value(_ kind: ParquetColumn.Kind, _ generator: inout SeededGenerator) -> ParquetReader.Value {
        let number = Int64(bitPattern: generator.next())
        switch kind {
        case .boolean: return .boolean(number & 1 == 1)
        case .integer, .timestamp: return .integer(number >> Int64.random(in: 0..<64, using: &generator))
        case .number: return .number(Double(number) / 1e9)
        case .text: return .text(String(repeating: "text ", count: Int.random(in: 0..<20, using: &generator)) + "é\0")
        // Few, and now and then another one.
        case .name: return .text("name \(number & (number & 255 < 250 ? 7 : 0xffff))")
        }
    }

    private func append(_ value: ParquetReader.Value?, to buffer: inout ColumnBuffer) {
        switch value {
        case nil: buffer.appendNull()
        case .boolean(let value): buffer.append(value)
        case .integer(let value): buffer.append(value)
        case .number(let value): buffer.append(value)
        case .text(let text):
            let bytes = Array(text.utf8)
            buffer.append(bytes.span.bytes)
        }
    }

    @Test(arguments: 0..<30) func whatIsWrittenIsRead(round: UInt64) throws {
        let seed = 0x7ab1e + round
        var generator = SeededGenerator(seed: seed)
        let columns = (0..<Int.random(in: 1...20, using: &generator)).map { index in
            ParquetColumn(
                name: "column \(index)", kind: Self.kinds[index % Self.kinds.count])
        }
        // A column may have no nulls, some, or nothing else.
        let shares: [Double] = [0, 0.1, 0.9, 1]
        let nulls = columns.map { _ in shares[Int.random(in: 0..<4, using: &generator)] }
        let output = MemoryOutput()
        let writer = ParquetWriter(columns, application: "test", PageCompression(), to: output)
        var rows: [[ParquetReader.Value?]] = []
        let groups = (0..<Int.random(in: 0...3, using: &generator)).map { _ in
            Int.random(in: 1...700, using: &generator)
        }
        for count in groups {
            for _ in 0..<count {
                let row = zip(columns, nulls).map { column, nulls in
                    Double.random(in: 0..<1, using: &generator) < nulls ? nil : value(column.kind, &generator)
                }
                for (index, value) in row.enumerated() { append(value, to: &writer.buffers[index]) }
                rows.append(row)
            }
            writer.endGroup()
        }
        writer.finish()
        #expect(writer.written == output.bytes.count && writer.rows == rows.count)
        let reader = try ParquetReader(output.bytes)
        #expect(reader.names == columns.map(\.name), "seed \(seed)")
        #expect(reader.rows == rows, "seed \(seed)")
        #expect(reader.groups == groups.count)
        expectBounds(reader, columns, rows, groups)
    }

    /// Readers skip groups by these: they must hold all values.
    private func expectBounds(
        _ reader: ParquetReader, _ columns: [ParquetColumn], _ rows: [[ParquetReader.Value?]], _ groups: [Int]
    ) {
        var start = 0
        for (group, count) in groups.enumerated() {
            for (index, column) in columns.enumerated() {
                let values = rows[start..<start + count].compactMap { row -> Int64? in
                    if case .integer(let value) = row[index] { value } else { nil }
                }
                let stated = reader.bounds[group][index]
                if column.kind == .integer || column.kind == .timestamp {
                    #expect(stated?.lowerBound == values.min() && stated?.upperBound == values.max())
                } else {
                    #expect(stated == nil)
                }
            }
            start += count
        }
    }

    @Test(arguments: 0..<40) func integersAreReadBack(round: UInt64) throws {
        let seed = 0xde17a + round
        var generator = SeededGenerator(seed: seed)
        let counts = [0, 1, 2, 32, 33, 34, 128, 129, 130, 257, 1_000]
        // From values that are the same to those whose differences do not fit into 64 bits.
        let shift = Int64.random(in: 0...63, using: &generator)
        var last = Int64(bitPattern: generator.next())
        let values = (0..<counts[Int(round) % counts.count]).map { _ in
            last &+= Int64(bitPattern: generator.next()) >> shift
            return round % 7 == 0 ? (last & 1 == 0 ? .min : .max) : last
        }
        var page: [UInt8] = []
        DeltaEncoding.append(values, to: &page)
        #expect(try ParquetReader.differences(page) == values, "seed \(seed)")
    }

    @Test func timesTakeLittleRoom() {
        var page: [UInt8] = []
        DeltaEncoding.append((0..<1_281).map { 1_795_219_200_000_000_000 + 1_000 * $0 }, to: &page)
        // Each block has its least difference, and the widths of four miniblocks.
        #expect(page.count == 14 + 10 * (2 + 4))
    }

    @Test func manyNamesAreDistinguished() {
        var dictionary = ValueDictionary()
        for round in 0..<2 {
            for number in 0..<5_000 {
                let name = Array("name \(number)".utf8)
                #expect(dictionary.index(of: name.span.bytes) == number, "round \(round)")
            }
        }
        #expect(dictionary.count == 5_000)
    }
}

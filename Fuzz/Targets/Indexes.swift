@testable import Packets
import Streams

/// Byte 0: bit 0 the rest is an index as it is; otherwise chunks follow, whose lengths and checksums are made right: two bytes of length
/// (bit 15: it has a filter of the next byte's length), and the filter and the records. Byte 1: how many bytes are read at once. A
/// record that can be read is written as what can be read again, and damage is an error, whoever looks for what.
func fuzzIndexes(_ input: FuzzInput) {
    var input = input
    let (isFile, size) = (input.byte() & 1 == 1, input.byte() + 1)
    let file = isFile ? Array(input.rest) : index(of: &input)
    let whole = IndexResult(file, size: 1 << 16)
    expect(whole == IndexResult(file, size: size), "in pieces of \(size) it is another index")
    var extents = ExtentSet(limit: 8)
    for record in whole.records {
        var bytes: [UInt8] = []
        record.append(to: &bytes)
        var cursor = IndexCursor(bytes, base: 0)
        expect((try? IndexRecord(&cursor)) == record && cursor.isAtEnd, "\(record) is written as \(bytes)")
        switch record {
        case .connection(let connection):
            extents.insert(connection.extents)
            _ = TimeSelection(since: connection.last, until: connection.first).contains(connection)
            // Chunks that are passed over give nothing, and what is damaged in them does not matter.
            let sought = IndexResult(file, size: size, selection: ConnectionSelection(ends: [connection.ends]))
            guard whole.error == nil else { continue }
            expect(sought.error == nil && Set(sought.records).isSubset(of: whole.records), "found \(sought.records)")
        case .places(let places): extents.insert(places)
        case .end: break
        }
    }
    let joined = extents.joined()
    expect(zip(joined, joined.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }, "\(joined) touch")
}

/// An index with chunks of these records.
private func index(of input: inout FuzzInput) -> [UInt8] {
    var file = IndexHeader(size: 1 << 20, modified: 0, isCompressed: false).bytes
    while !input.rest.isEmpty {
        let word = input.byte() << 8 | input.byte()
        let filter = word & 0x8000 == 0 ? [] : input.bytes(input.byte())
        let records = input.bytes(word & 0x7fff)
        var head: [UInt8] = []
        head.append(first: 4, of: UInt64(records.count))
        head.append(first: 4, of: UInt64(filter.count))
        head += [UInt8](repeating: 0x7f, count: 16)
        head.append(first: 4, of: UInt64(IndexFormat.checksum(records)))
        head.append(first: 4, of: UInt64(IndexFormat.checksum(head + filter)))
        file += head + filter + records
    }
    return file
}

/// What an index gave.
private struct IndexResult: Equatable {
    var header: IndexHeader?
    var records: [IndexRecord] = []
    var error: CaptureError?

    init(_ file: [UInt8], size: Int, selection: ConnectionSelection = ConnectionSelection()) {
        var reader = IndexReader(Pieces(bytes: file[...], size: size))
        do {
            header = try reader.header()
            while let next = try reader.next(where: { $0.mayContain(selection) }) { records += next }
        } catch {
            if case .damaged(let damage) = error { self.error = damage }
        }
    }
}

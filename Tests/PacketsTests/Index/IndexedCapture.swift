import Packets
import Streams
import Testing

/// A capture's index, and what it says is to be read.
struct IndexedCapture {
    let file: [UInt8]
    var bytes: [UInt8] = []
    var records: [IndexRecord] = []
    var damage: CaptureError?

    init(_ file: [UInt8], memoryLimit: Int = 64 << 20, sizes: [Int] = [1 << 20]) {
        self.file = file
        bytes = IndexHeader(size: file.count, modified: 1, isCompressed: false).bytes
        var indexer = CaptureIndexer(memoryLimit: memoryLimit)
        var reader = CaptureReader(PieceSource(file, sizes: sizes), chunk: 4096)
        do {
            while try reader.step(to: &indexer) != .end { bytes += indexer.takeOutput() }
        } catch {
            if case .damaged(let damage) = error { self.damage = damage }
        }
        indexer.finish(size: damage == nil ? file.count : nil)
        bytes += indexer.takeOutput()
        let (records, error) = Self.read(bytes)
        #expect(error == nil)
        self.records = records
    }

    /// The records of an index, and how reading it ended.
    static func read(_ bytes: [UInt8], sizes: [Int] = [1 << 20]) -> (records: [IndexRecord], error: CaptureError?) {
        var reader = IndexReader(PieceSource(bytes, sizes: sizes))
        var records: [IndexRecord] = []
        do {
            _ = try reader.header()
            while let next = try reader.next() { records += next }
        } catch {
            if case .damaged(let damage) = error { return (records, damage) }
        }
        return (records, nil)
    }

    var connections: [IndexedConnection] {
        var connections: [IndexedConnection] = []
        for case .connection(let connection) in records { connections.append(connection) }
        return connections
    }

    var end: IndexEnd? {
        for case .end(let end) in records { return end }
        return nil
    }

    /// What is read of the file for some connections.
    func extents(of selection: ConnectionSelection) -> [Range<Int>] {
        var set = ExtentSet()
        for record in records {
            switch record {
            case .connection(let connection):
                if selection.contains(connection.ends) { set.insert(connection.extents) }
            case .places(let places): set.insert(places)
            case .end(let end): if end.readable < file.count { set.insert([end.readable..<file.count]) }
            }
        }
        return set.joined()
    }

    /// Only that part of the file.
    func part(of selection: ConnectionSelection) -> [UInt8] { extents(of: selection).flatMap { file[$0] } }
}

import Streams
import Trace

/// Writes a Parquet file: rows in groups, each column of a group in one page.
///
/// What it holds is one group of rows, and where the earlier ones are.
///
/// Source: the Apache Parquet format, `README.md` and `parquet.thrift`.
final class ParquetWriter {
    /// A column's part of a group that was written.
    private struct Chunk {
        var dictionaryOffset: Int?
        var dataOffset: Int
        var compressed: Int
        var uncompressed: Int
        var values: Int
        var nulls: Int
        var encodings: [Int]
        var bounds: (least: [UInt8], greatest: [UInt8])?
    }

    private struct Group {
        var chunks: [Chunk]
        var rows: Int
    }

    private let columns: [ParquetColumn]
    private let application: String
    private let compression: PageCompression
    private let output: any ByteOutput
    private var groups: [Group] = []
    /// How many bytes were written.
    private(set) var written = 0
    /// How many rows were written.
    private(set) var rows = 0

    /// The columns of the current group. To append a row, append a value or null to each of them.
    @exclusivity(unchecked) var buffers: [ColumnBuffer]

    /// - Parameters:
    ///   - application: what wrote the file, for people.
    init(_ columns: [ParquetColumn], application: String, _ compression: PageCompression, to output: any ByteOutput) {
        (self.columns, self.application, self.compression, self.output) = (columns, application, compression, output)
        buffers = columns.map { ColumnBuffer($0.kind) }
        write(ParquetCode.magic)
    }

    /// How many rows the group at hand has.
    var pendingRows: Int { buffers.first?.count ?? 0 }

    /// Gives back the memory of groups that were written.
    func release() {
        if pendingRows == 0 { buffers = columns.map { ColumnBuffer($0.kind) } }
    }

    private func write(_ bytes: [UInt8]) {
        output.write(bytes)
        written += bytes.count
    }

    // MARK: Groups

    /// Writes the group at hand.
    func endGroup() {
        guard pendingRows > 0 else { return }
        // Its pages are written at once: the output may have to open a file.
        compression.group.removeAll(keepingCapacity: true)
        groups.append(Group(chunks: buffers.indices.map { add(&buffers[$0]) }, rows: pendingRows))
        write(compression.group)
        rows += pendingRows
        for index in buffers.indices { buffers[index].removeAll() }
    }

    /// Adds a column's pages to the group.
    private func add(_ buffer: inout ColumnBuffer) -> Chunk {
        var chunk = Chunk(
            dataOffset: 0, compressed: 0, uncompressed: 0, values: buffer.count, nulls: buffer.nulls,
            encodings: [ParquetCode.Encoding.runLength, buffer.encoding], bounds: buffer.storedBounds)
        if let (values, count) = buffer.dictionaryPage {
            chunk.encodings.append(ParquetCode.Encoding.plain)
            chunk.dictionaryOffset = written + compression.group.count
            addPage(values.span.bytes, ParquetCode.Page.dictionary, &chunk) { header in
                header.structure(7) {
                    $0.int32(1, count)
                    $0.int32(2, ParquetCode.Encoding.plain)
                }
            }
        }
        chunk.dataOffset = written + compression.group.count
        let (count, encoding) = (buffer.count, buffer.encoding)
        buffer.withDataPage(&compression.page) { page in
            addPage(page, ParquetCode.Page.data, &chunk) { header in
                header.structure(5) {
                    $0.int32(1, count)
                    $0.int32(2, encoding)
                    $0.int32(3, ParquetCode.Encoding.runLength)
                    $0.int32(4, ParquetCode.Encoding.runLength)
                }
            }
        }
        return chunk
    }

    /// Adds a page after its header.
    private func addPage(
        _ page: RawSpan, _ type: Int, _ chunk: inout Chunk, _ describe: (inout CompactProtocol) -> Void
    ) {
        compression.compress(page)
        let (uncompressed, compressed) = (page.byteCount, compression.compressed.count)
        let header = CompactProtocol.bytes {
            $0.int32(1, type)
            $0.int32(2, uncompressed)
            $0.int32(3, compressed)
            describe(&$0)
        }
        compression.group += header
        compression.group += compression.compressed
        chunk.compressed += header.count + compressed
        chunk.uncompressed += header.count + uncompressed
    }

    // MARK: The footer

    /// Writes the group at hand, and what readers begin with: the file's schema, and where its groups are.
    func finish() {
        endGroup()
        let footer = CompactProtocol.bytes { file in
            file.int32(1, ParquetCode.version)
            describeSchema(&file)
            file.int64(3, rows)
            file.structures(4, groups, describe)
            file.binary(6, application.utf8)
            // Bounds are in the usual order of the column's type.
            file.structures(7, columns) { _, order in order.structure(1) { _ in } }
        }
        var length: [UInt8] = []
        length.append(first: 4, of: UInt64(footer.count))
        write(footer + length + ParquetCode.magic)
    }

    private func describeSchema(_ file: inout CompactProtocol) {
        // The root of the tree of columns comes first.
        file.structures(2, [nil] + columns.map { Optional($0) }) { column, element in
            guard let column else {
                element.binary(4, "schema".utf8)
                element.int32(5, columns.count)
                return
            }
            element.int32(1, column.kind.physical)
            element.int32(3, ParquetCode.optional)
            element.binary(4, column.name.utf8)
            if let converted = column.kind.converted { element.int32(6, converted) }
            if column.kind.isText { element.structure(10) { $0.structure(1) { _ in } } }
            guard column.kind == .timestamp else { return }
            element.structure(10) {
                $0.structure(8) {
                    $0.boolean(1, true)
                    $0.structure(2) { $0.structure(2) { _ in } }
                }
            }
        }
    }

    private func describe(_ group: Group, _ structure: inout CompactProtocol) {
        structure.structures(1, Array(zip(columns, group.chunks))) { part, structure in
            let (column, chunk) = part
            structure.int64(2, chunk.dictionaryOffset ?? chunk.dataOffset)
            structure.structure(3) { describe(column, chunk, &$0) }
        }
        structure.int64(2, group.chunks.reduce(0) { $0 + $1.uncompressed })
        structure.int64(3, group.rows)
    }

    private func describe(_ column: ParquetColumn, _ chunk: Chunk, _ data: inout CompactProtocol) {
        data.int32(1, column.kind.physical)
        data.int32s(2, chunk.encodings)
        data.binaries(3, [column.name])
        data.int32(4, ParquetCode.zstd)
        data.int64(5, chunk.values)
        data.int64(6, chunk.uncompressed)
        data.int64(7, chunk.compressed)
        data.int64(9, chunk.dataOffset)
        if let offset = chunk.dictionaryOffset { data.int64(11, offset) }
        data.structure(12) {
            $0.int64(3, chunk.nulls)
            if let (least, greatest) = chunk.bounds {
                $0.binary(5, greatest)
                $0.binary(6, least)
            }
        }
    }
}

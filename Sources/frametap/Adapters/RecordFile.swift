import Streams
import Trace

/// A file that a record is written to, or a series of files; readable by their owner only, and locked while they are written.
///
/// A write error is reported once; the file is truncated after its last complete piece, and the next HUP tries again. What is
/// discarded meanwhile is counted.
final class RecordFile: RecordOutput {
    private let path: String
    private let pieces: RecordPieces
    private let rotation: Rotation?
    private let series: RecordSeries?
    private let whenBroken: (FileOutput.Failure) -> Void
    private var file: FileOutput
    private var number: Int
    /// The length of this file.
    private var size = 0
    private var start: Timestamp
    private var isBroken = false
    /// Whether another file could not be created: it is not tried again before a HUP.
    private var hasFailed = false
    /// Whether old files are deleted once this one has something: on a full disk it may stay empty.
    private var mayReplaceOld = false
    private let hangUpCount: () -> Int
    private var hangUps: Int
    private(set) var discarded = 0

    /// Creates the file, or the next one of the series. What a file has stays until `begin` is called.
    ///
    /// - Parameter hangUpCount: how many HUPs were received so far.
    init(
        _ path: String, of pieces: RecordPieces, rotation: Rotation?, keep: Int?, start: Timestamp,
        whenBroken: @escaping (FileOutput.Failure) -> Void, hangUpCount: @escaping () -> Int = { HangUp.count }
    ) throws {
        self.path = path
        self.pieces = pieces
        self.rotation = rotation
        self.hangUpCount = hangUpCount
        hangUps = hangUpCount()
        self.whenBroken = whenBroken
        self.start = start
        series = rotation.map { _ in RecordSeries(path, keep: keep) }
        (file, number) = try Self.create(path, series, from: series?.nextNumber() ?? 0, keepsContent: true)
        // Standard output may be a file that has something already.
        size = file.isRegular && !file.keepsContent ? file.length : 0
        adopt(file)
    }

    /// Creates the only file, or the next one of a series.
    ///
    /// - Parameters:
    ///   - first: the number from which a free one is looked for.
    ///   - keepsContent: whether what the only file has stays until it begins.
    private static func create(
        _ path: String, _ series: RecordSeries?, from first: Int, keepsContent: Bool = false
    ) throws -> (file: FileOutput, number: Int) {
        guard let series else {
            return (try FileOutput(creating: path, madePrivate: true, keepsContent: keepsContent), first)
        }
        var number = first
        while number <= RecordSeries.lastNumber {
            if let file = try FileOutput(creatingRecord: series.path(number)) { return (file, number) }
            // Another frametap that writes the same series has taken this number.
            number += 1
        }
        throw CommandError(
            "cannot create another file of the series \(path): its last number, \(RecordSeries.lastNumber), is taken; "
                + "choose another name, or move the files away")
    }

    /// Empties a file that still has what it had before, and writes what was taken until now. Call it when nothing can stop the
    /// command from starting.
    func begin() {
        guard file.keepsContent else { return }
        let waiting = file.begin()
        guard isBroken else { return }
        size = 0
        cut(waiting)
    }

    /// Takes whole pieces.
    func write(_ bytes: [UInt8]) {
        guard !isBroken else { return discard(bytes[...]) }
        file.write(bytes)
        if isBroken { return cut(bytes) }
        size += bytes.count
        guard mayReplaceOld else { return }
        mayReplaceOld = false
        series?.deleteOld(current: number)
    }

    /// Keeps the whole pieces that were written of these bytes until that failed.
    private func cut(_ bytes: [UInt8]) {
        let written = pieces.completeLength(of: bytes.prefix(max(0, file.length - size)))
        size += written
        file.cut(to: size)
        discard(bytes.dropFirst(written))
    }

    private func discard(_ bytes: ArraySlice<UInt8>) { discarded += pieces.count(in: bytes) }

    /// Reports at the end what is missing. A reader that has closed a pipe has seen enough.
    func warnOfDiscarded() {
        guard discarded > 0, file.isRegular else { return }
        warn("\(path) is not complete: \(pieces.counted(discarded)) could not be written")
    }

    var isAskedForNext: Bool { hangUpCount() != hangUps }

    /// How many bytes it may still grow by; nil: unlimited.
    var room: Int? { hasFailed ? nil : rotation?.size.map { $0 - size } }

    func isFull(adding byteCount: Int, at time: Timestamp) -> Bool {
        guard let rotation, !hasFailed, !isBroken else { return false }
        if let limit = rotation.size, size + byteCount > limit { return true }
        if let interval = rotation.interval, time >= start + interval { return true }
        return false
    }

    func next(ending: [UInt8], at time: Timestamp) -> Bool {
        // What was written since it was full may have failed: only a HUP tries again.
        if isBroken, !isAskedForNext { return false }
        if isAskedForNext { hasFailed = false }
        hangUps = hangUpCount()
        // A file that is still in its place is continued, unless it could not be written.
        if series == nil, !isBroken, !file.isRegular || file.isFile(at: path) { return false }
        do {
            let following: (file: FileOutput, number: Int)
            if isBroken, series == nil, file.isFile(at: path) {
                // Not opened anew: its own lock would be in the way.
                file.resume()
                following = (file, number)
            } else {
                following = try Self.create(path, series, from: number + 1)
            }
            write(ending)
            if isBroken {
                let name = series?.path(following.number) ?? path
                warn("writing goes on in \(name); \(pieces.counted(discarded)) could not be written so far")
            }
            number = following.number
            size = following.file.length
            start = time
            isBroken = false
            adopt(following.file)
            return true
        } catch {
            hasFailed = true
            warn("\(error); \(isBroken ? "nothing is written" : "writing goes on in the file before")")
            return false
        }
    }

    private func adopt(_ file: FileOutput) {
        self.file = file
        file.endsOnSignal = true
        file.whenBroken = { [weak self] failure in
            self?.isBroken = true
            self?.whenBroken(failure)
        }
        mayReplaceOld = true
    }
}

/// When a record continues in another file: when this one would become too long, or is too old.
struct Rotation: Hashable {
    var size: Int?
    var interval: Interval?
}

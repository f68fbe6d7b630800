import Crypto
import Framing
import Streams
import Trace

/// Hashes the streams of connections, and lists them in the order in which they opened.
final class StreamListing: StreamReceiver {
    private let output: any ByteOutput
    private let files: StreamFiles?
    /// Lines that wait for connections, or legs, that opened earlier, by their place in the order of opening.
    private var waiting: [Int: [UInt8]] = [:]
    private var next = 0
    private var opened = 0

    /// - Parameter files: the files to which the bytes are also written.
    init(output: any ByteOutput, files: StreamFiles? = nil) {
        self.output = output
        self.files = files
    }

    func open(_ opening: Opening) -> any ConnectionReceiver {
        defer { opened += 1 }
        return Listed(opening, at: opened, listing: self)
    }

    func advance(to time: Timestamp) {}

    /// Writes the lines that are still waiting.
    func finish() {
        for place in waiting.keys.sorted() { output.write(waiting[place] ?? []) }
    }

    private func list(_ line: [UInt8], _ place: Int) {
        waiting[place] = line
        while let due = waiting.removeValue(forKey: next) {
            output.write(due)
            next += 1
        }
    }

    private struct Side {
        var bytes = 0
        var missing = 0
        var hash = SHA256()
    }

    private final class Listed: ConnectionReceiver {
        private let opening: Opening
        private let place: Int
        private let listing: StreamListing
        private var sides = PerDirection(fromClient: Side(), fromServer: Side())

        init(_ opening: Opening, at place: Int, listing: StreamListing) {
            (self.opening, self.place, self.listing) = (opening, place, listing)
        }

        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
            sides[direction].bytes += bytes.byteCount
            bytes.withUnsafeBytes { sides[direction].hash.update(bufferPointer: $0) }
            listing.files?.write(bytes, of: opening.connectionLeg, direction)
        }

        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
            sides[direction].missing += byteCount
            listing.files?.missing(byteCount, of: opening.connectionLeg, direction)
        }

        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {}
        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {}

        func closed(_ closing: Closing) {
            var line: [UInt8] = []
            let leg = opening.leg.map { ",\"leg\":\"\($0.rawValue)\"" } ?? ""
            line += Array("{\"connection\":\(opening.number)\(leg),\"client\":\"\(opening.client)\",\"server\":\"".utf8)
            line += Array("\(opening.server)\",\"opened\":\"\(opening.time.rfc3339)\",\"closed\":\"".utf8)
            line += Array("\(closing.time.rfc3339)\",\"reason\":\"\(closing.reason.rawValue)\",\"handshake\":".utf8)
            line += Array("\(opening.handshake),\"fromClient\":\(side(.fromClient)),".utf8)
            line += Array("\"fromServer\":\(side(.fromServer))}\n".utf8)
            listing.list(line, place)
            listing.files?.finish(opening.connectionLeg)
        }

        private func side(_ direction: Direction) -> String {
            let side = sides[direction]
            var hash: [UInt8] = []
            for byte in side.hash.finalize() { JSONOutput.hex(byte, into: &hash) }
            let digest = String(decoding: hash, as: UTF8.self)
            return "{\"bytes\":\(side.bytes),\"missing\":\(side.missing),\"sha256\":\"\(digest)\"}"
        }
    }
}

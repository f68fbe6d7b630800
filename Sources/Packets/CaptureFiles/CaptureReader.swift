/// The source of a capture's bytes: a file, standard input.
package protocol ByteSource {
    /// What can go wrong while reading.
    associatedtype Failure: Error

    /// Puts the next bytes at the start of `buffer`.
    ///
    /// - Returns: how many bytes were read, as soon as any are available; 0 at the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int
}

/// Why reading a capture ended early.
package enum CaptureReadFailure<Failure: Error>: Error {
    /// The file violates its format.
    case damaged(CaptureError)
    /// The source could not be read.
    case unreadable(Failure)
}

extension CaptureReadFailure: Sendable where Failure: Sendable {}

/// How a step of reading ended.
package enum ReadingStep: Hashable, Sendable {
    /// There may be more.
    case more
    /// The receiver asked to stop: the next step starts with the packet it did not take.
    case stopped
    /// The capture is at its end.
    case end
}

/// Reads a capture step by step.
package protocol SteppingReader {
    /// What can go wrong while reading.
    associatedtype Failure: Error

    /// Passes on the next packets.
    mutating func step(to decoder: inout CaptureDecoder) throws(CaptureReadFailure<Failure>) -> ReadingStep

    /// How many bytes were read from the source, before decompression.
    var bytesRead: Int { get }
    /// How many packets were passed on, or passed over.
    var packetCount: Int { get }
}

/// Reads a capture from a source through one reused buffer; a gzip file, recognized by its magic number, is decompressed on the
/// way.
package struct CaptureReader<Source: ByteSource>: SteppingReader {
    /// What can go wrong while reading.
    package typealias Failure = Source.Failure

    private var parser = CaptureParser()
    private var buffer: [UInt8]
    /// The part of the buffer not parsed yet.
    private var pending = 0..<0
    private var wanted = 0
    private var isStopped = false
    private var isLast = false
    /// The size of the buffer from the second read on.
    private let chunk: Int
    /// Whether the source has been checked for gzip.
    private var isSniffed = false
    private var gunzip: Gunzip?

    /// How many bytes were read from the source, before decompression.
    package private(set) var bytesRead = 0
    /// How many of them were taken account of.
    private var bytesTaken = 0
    /// Whether the source is a gzip file, as far as it was read.
    package var isExpanding: Bool { gunzip != nil }
    /// How many packets were passed on.
    package var packetCount: Int { parser.packetCount }

    /// The last property: the offset of one after it would be looked up at run time, since this type is generic.
    private var source: Source

    /// A reader at the start of a source.
    ///
    /// - Parameters:
    ///   - chunk: how many bytes are requested at once; the buffer grows beyond it only for a longer packet.
    ///   - first: how many are requested first, if the reader may have to wait for its turn.
    package init(_ source: Source, chunk: Int = 1 << 20, first: Int? = nil) {
        self.source = source
        self.chunk = chunk
        buffer = [UInt8](repeating: 0, count: max(first ?? chunk, 64))
    }

    /// How many bytes were read since this was last asked for.
    mutating func takeBytesRead() -> Int {
        defer { bytesTaken = bytesRead }
        return bytesRead - bytesTaken
    }

    /// Reads to the end, or until the receiver asks to stop.
    ///
    /// - Returns: whether the end was reached.
    @discardableResult
    package mutating func read<Receiver: PacketReceiver & ~Copyable>(
        to receiver: inout Receiver
    ) throws(CaptureReadFailure<Source.Failure>) -> Bool {
        while true {
            switch try step(to: &receiver) {
            case .more: continue
            case .stopped: return false
            case .end: return true
            }
        }
    }

    /// Reads once from the source and passes on the packets that are then complete.
    package mutating func step<Receiver: PacketReceiver & ~Copyable>(
        to receiver: inout Receiver
    ) throws(CaptureReadFailure<Source.Failure>) -> ReadingStep {
        if !isStopped {
            if isLast { return .end }
            try fill()
        }
        do {
            return try parse(to: &receiver)
        } catch {
            throw .damaged(error)
        }
    }

    /// Bytes that were parsed.
    struct Window {
        /// Their range in the buffer.
        var bytes: Range<Int>
        /// Their offset in the file, expanded if it is compressed.
        var position: Int
        /// Whether the file ends with them.
        var isLast: Bool
    }

    /// The offset in the file of the next byte to be parsed.
    var position: Int { parser.position }

    /// Reads from the source until something can be parsed, passes on the packets that are then complete, and exchanges its buffer for
    /// another one, so that others can parse the same bytes. Damage ends reading without an error: each thread that parses the bytes finds it
    /// again.
    ///
    /// - Parameter buffer: before, memory to read into next; after, what was read.
    /// - Returns: which bytes are parsed; nil at the end.
    mutating func step<Receiver: PacketReceiver & ~Copyable>(
        to receiver: inout Receiver, exchanging buffer: inout [UInt8]
    ) throws(CaptureReadFailure<Source.Failure>) -> Window? {
        if isLast { return nil }
        var window: Window
        repeat {
            try fill()
            window = Window(bytes: pending, position: parser.position, isLast: isLast)
            _ = try? parse(to: &receiver)
        } while !isLast && pending == window.bytes
        let rest = pending
        let missing = max(chunk, rest.count) - buffer.count
        if missing > 0 { buffer.append(contentsOf: repeatElement(0, count: missing)) }
        buffer.replaceSubrange(0..<rest.count, with: self.buffer[rest])
        swap(&self.buffer, &buffer)
        pending = 0..<rest.count
        return window
    }

    /// Goes on where the receiver asked to stop, without reading from the source.
    ///
    /// - Returns: nil if it did not ask to stop.
    mutating func resume<Receiver: PacketReceiver & ~Copyable>(
        to receiver: inout Receiver
    ) throws(CaptureError) -> ReadingStep? {
        isStopped ? try parse(to: &receiver) : nil
    }

    /// Passes on the packets that are complete.
    private mutating func parse<Receiver: PacketReceiver & ~Copyable>(
        to receiver: inout Receiver
    ) throws(CaptureError) -> ReadingStep {
        isStopped = false
        do {
            let bytes = buffer  // the same storage: a span of `self.buffer` would borrow all of `self`
            let progress = try receiver.parse(bytes.span.bytes.extracting(pending), isLast: isLast, by: &parser)
            pending = pending.lowerBound + progress.consumed..<pending.upperBound
            wanted = progress.wanted
            isStopped = progress.stopped
        } catch {
            isLast = true
            pending = 0..<0
            var error = error
            error.isExpanded = gunzip != nil
            throw error
        }
        return isStopped ? .stopped : isLast ? .end : .more
    }

    /// Moves the remaining bytes to the front if needed, and reads after them.
    private mutating func fill() throws(CaptureReadFailure<Source.Failure>) {
        if pending.isEmpty {
            pending = 0..<0
        } else if pending.lowerBound > 0, buffer.count - pending.lowerBound < max(wanted, buffer.count / 2) {
            let moved = pending
            buffer.withUnsafeMutableBytes { bytes in
                bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[moved]))
            }
            pending = 0..<moved.count
        }
        if bytesRead > 0, buffer.count < chunk {
            buffer.append(contentsOf: repeatElement(0, count: chunk - buffer.count))
        }
        if pending.upperBound == buffer.count {
            // Grows by what was read, not by what a length field announces.
            let growth = min(max(wanted - buffer.count, 64), buffer.count)
            buffer.append(contentsOf: repeatElement(0, count: growth))
        }
        let free = pending.upperBound..<buffer.count
        let gunzip = gunzip
        let outcome = buffer.withUnsafeMutableBytes { bytes -> Result<Int, CaptureReadFailure<Source.Failure>> in
            let free = UnsafeMutableRawBufferPointer(rebasing: bytes[free])
            do throws(CaptureReadFailure<Source.Failure>) {
                return .success(try Self.read(&source, gunzip, into: free, &bytesRead))
            } catch {
                return .failure(error)
            }
        }
        let count: Int
        switch outcome {
        case .success(let read): count = read
        case .failure(let failure):
            isLast = true
            throw failure
        }
        isLast = count == 0
        pending = pending.lowerBound..<pending.upperBound + count
        if !isSniffed, pending.count >= 2 { try sniff() }
    }

    /// Reads from the source, decompressing if necessary.
    private static func read(
        _ source: inout Source, _ gunzip: Gunzip?, into free: UnsafeMutableRawBufferPointer, _ bytesRead: inout Int
    ) throws(CaptureReadFailure<Source.Failure>) -> Int {
        func next(_ room: UnsafeMutableRawBufferPointer) throws(Source.Failure) -> Int {
            // A source that claims more bytes than fit must not cause an out-of-bounds range.
            let count = min(max(try source.read(into: room), 0), room.count)
            bytesRead += count
            return count
        }
        if let gunzip { return try gunzip.read(into: free, next: next) }
        do throws(Source.Failure) {
            return try next(free)
        } catch {
            throw .unreadable(error)
        }
    }

    /// Checks whether the file is compressed; if so, the bytes read are passed to the decompressor.
    private mutating func sniff() throws(CaptureReadFailure<Source.Failure>) {
        isSniffed = true
        let start = pending.lowerBound
        guard Gunzip.isMagic(buffer[start], buffer[start + 1]) else { return }
        gunzip = Gunzip(beginning: buffer[pending])
        pending = 0..<0
        guard gunzip != nil else {
            isLast = true
            throw .damaged(
                CaptureError(
                    kind: .badCompression, offset: 0, expected: "memory to expand a gzip file", found: "too little"))
        }
        try fill()
    }
}

/// Where the bytes of a capture come from: a file, standard input, a decompressor over either.
public protocol ByteSource {
    /// What can go wrong in reading.
    associatedtype Failure: Error

    /// Puts the next bytes at the start of `buffer`.
    ///
    /// - Returns: how many there were, as soon as there are any; 0 at the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Failure) -> Int
}

/// Why reading a capture came to an early end.
public enum CaptureReadFailure<Failure: Error>: Error {
    /// The file is not as its format says.
    case damaged(CaptureError)
    /// The source could not be read.
    case unreadable(Failure)
}

extension CaptureReadFailure: Sendable where Failure: Sendable {}

/// Reads a capture from a source through one buffer that is used again and again.
public struct CaptureReader<Source: ByteSource> {
    /// How a step of reading ended.
    public enum Step: Hashable, Sendable {
        /// There may be more.
        case more
        /// The receiver said to stop: the next step starts with the packet it did not take.
        case stopped
        /// The capture is at its end.
        case end
    }

    private var source: Source
    private var parser = CaptureParser()
    private var buffer: [UInt8]
    /// The part of the buffer that is still to be parsed.
    private var pending = 0..<0
    private var wanted = 0
    private var isStopped = false
    private var isLast = false

    /// How many bytes were read from the source.
    public private(set) var bytesRead = 0
    /// How many packets were handed on.
    public var packetCount: Int { parser.packetCount }

    /// A reader at the start of a source.
    ///
    /// - Parameter chunk: how many bytes are asked for at once; the buffer grows beyond it only for a longer packet.
    public init(_ source: Source, chunk: Int = 1 << 20) {
        self.source = source
        buffer = [UInt8](repeating: 0, count: max(chunk, 64))
    }

    /// Reads to the end, or until the receiver says to stop.
    ///
    /// - Returns: whether the end was reached.
    @discardableResult
    public mutating func read<Receiver: PacketReceiver & ~Copyable>(
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

    /// Reads once from the source and hands on the packets that are whole then.
    public mutating func step<Receiver: PacketReceiver & ~Copyable>(
        to receiver: inout Receiver
    ) throws(CaptureReadFailure<Source.Failure>) -> Step {
        if isStopped {
            isStopped = false
        } else if !isLast {
            try fill()
        } else {
            return .end
        }
        do {
            let bytes = buffer  // the same storage: a span of `self.buffer` would borrow all of `self`
            let progress = try parser.parse(bytes.span.bytes.extracting(pending), isLast: isLast, to: &receiver)
            pending = pending.lowerBound + progress.consumed..<pending.upperBound
            wanted = progress.wanted
            isStopped = progress.stopped
        } catch {
            isLast = true
            pending = 0..<0
            throw .damaged(error)
        }
        return isStopped ? .stopped : isLast ? .end : .more
    }

    /// Moves what is left to the front where that is needed, and reads behind it.
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
        if pending.upperBound == buffer.count {
            // By what was read, not by what a length field says is still to come.
            let growth = min(max(wanted - buffer.count, 64), buffer.count)
            buffer.append(contentsOf: repeatElement(0, count: growth))
        }
        let free = pending.upperBound..<buffer.count
        let outcome = buffer.withUnsafeMutableBytes { bytes -> Result<Int, Source.Failure> in
            do throws(Source.Failure) {
                return .success(try source.read(into: UnsafeMutableRawBufferPointer(rebasing: bytes[free])))
            } catch {
                return .failure(error)
            }
        }
        let count: Int
        switch outcome {
        case .success(let read): count = read
        case .failure(let failure): throw .unreadable(failure)
        }
        // A source that claims more than there was room for must not make a range out of bounds.
        let accepted = min(max(count, 0), free.count)
        bytesRead += accepted
        isLast = accepted == 0
        pending = pending.lowerBound..<pending.upperBound + accepted
    }
}

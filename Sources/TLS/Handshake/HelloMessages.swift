import Streams

/// The handshake messages at the beginning of a direction, read from bytes that are cut anywhere.
///
/// Keeps at most one record and one message of ``HelloLimits/longestHello`` bytes.
struct HelloMessages: Sendable {
    enum Step {
        case needsMore
        case message(HandshakeMessage)
        case alert(Alert)
        case notTLS
        case unsupported(String)
        case malformed(String)
    }

    private var start: [UInt8]? = []
    private var records = RecordReader()
    private var handshake = HandshakeReassembly(limit: HelloLimits.longestHello)
    private var queue: [UInt8] = []

    /// Adds bytes of the direction.
    mutating func add(_ bytes: RawSpan) -> Step {
        guard var start else { return next(bytes) }
        start.append(contentsOf: bytes)
        switch TLSBeginning(start.span.bytes) {
        case .undecided:
            self.start = start
            return .needsMore
        case .notTLS: return .notTLS
        case .unsupported(let name): return .unsupported(name)
        case .tls:
            self.start = nil
            return next(start.span.bytes)
        }
    }

    /// The next message of what was added.
    mutating func next() -> Step {
        let bytes = queue
        queue = []
        return next(bytes.span.bytes)
    }

    private mutating func next(_ bytes: RawSpan) -> Step {
        var at = 0
        while true {
            switch handshake.next() {
            case .message(let message):
                queue.append(contentsOf: bytes.extracting(at..<bytes.byteCount))
                return .message(message)
            case .tooLong(let length): return .malformed("a handshake message of \(length) bytes")
            case .needsMore: break
            }
            let step: Step?
            switch records.next(bytes, &at) {
            case .needsMore: return .needsMore
            case .inChunk(let header, let range): step = take(header, bytes.extracting(range))
            case .buffered(let header):
                let record = records.takeRecord()
                step = take(header, record.span.bytes)
            case .notARecord(let found): return .malformed("no record begins with \(Hexadecimal.text(found))")
            }
            if let step { return step }
        }
    }

    private mutating func take(_ header: RecordHeader, _ record: RawSpan) -> Step? {
        let content = record.extracting(RecordHeader.byteCount..<record.byteCount)
        switch header.type {
        case .handshake:
            handshake.add(content)
            return nil
        case .alert where content.byteCount == 2:
            return .alert(Alert(level: content[byte: 0], code: content[byte: 1]))
        case .changeCipherSpec where !handshake.isWithinMessage: return nil  // between two hellos of TLS 1.3
        case .alert, .changeCipherSpec, .applicationData:
            return .malformed("a record of type \(header.type.rawValue) before the hello")
        }
    }
}

/// Limits of what is read of a hello.
enum HelloLimits {
    /// The longest hello that is read.
    static let longestHello = 1 << 16
}

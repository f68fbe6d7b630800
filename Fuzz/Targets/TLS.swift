import Streams
import TLS

/// Byte 0 selects: a ClientHello, a key log, or a connection with its keys. Whole or split, what is read is the
/// same, and nothing that is kept exceeds its limits.
func fuzzTLS(_ input: FuzzInput) {
    var input = input
    switch input.byte() % 4 {
    case 0, 1:
        fuzzHello(&input, ClientHelloReader()) {
            $0.read($1)
        } isOpen: {
            $0 == .needsMore
        }
    case 2: fuzzKeyLog(&input)
    default: fuzzConnection(&input)
    }
}

/// Byte 1: how long the pieces are. The rest: what a peer sends first.
private func fuzzHello<Reader, Answer: Equatable>(
    _ input: inout FuzzInput, _ reader: Reader, _ read: (inout Reader, RawSpan) -> Answer, isOpen: (Answer) -> Bool
) {
    let length = input.byte() + 1
    let bytes = Array(input.rest)
    var (whole, split) = (reader, reader)
    let expected = read(&whole, bytes.span.bytes)
    var answer = read(&split, RawSpan())
    for start in stride(from: 0, to: bytes.count, by: length) where isOpen(answer) {
        answer = read(&split, bytes.span.bytes.extracting(start..<min(start + length, bytes.count)))
    }
    expect(answer == expected, "\(expected) became \(answer) in pieces of \(length)")
}

/// Byte 1: how long the pieces are. The rest: text.
private func fuzzKeyLog(_ input: inout FuzzInput) {
    let length = input.byte() + 1
    let bytes = Array(input.rest)
    var (whole, split) = (KeyLog(), KeyLog())
    let expected = whole.add(bytes.span.bytes) + whole.endText()
    var malformed: [KeyLog.MalformedLine] = []
    for start in stride(from: 0, to: bytes.count, by: length) {
        malformed += split.add(bytes.span.bytes.extracting(start..<min(start + length, bytes.count)))
    }
    malformed += split.endText()
    expect(malformed == expected, "\(expected) became \(malformed)")
    expect(whole.count == split.count, "\(whole.count) connections became \(split.count)")
}

/// Byte 1: how long the pieces are. Then steps: a byte with the direction (bit 7) and whether bytes are missing (bit 6), a byte of
/// length, and the bytes. The key log knows the random of 32 times 0x41 alone.
private func fuzzConnection(_ input: inout FuzzInput) {
    let length = input.byte() + 1
    var keys = KeyLog()
    if let random = ClientRandom([UInt8](repeating: 0x41, count: 32)) {
        for label in KeyLogLabel.allCases {
            let secret = [UInt8](repeating: 1, count: label == .clientRandom ? 48 : 32)
            if let line = KeyLogLine(label, random, secret) { keys.add(line) }
        }
    }
    let (whole, split) = (CheckedTLS(), CheckedTLS())
    var (first, second) = (TLSConnection(), TLSConnection())
    while !input.rest.isEmpty {
        let (flags, count) = (input.byte(), input.byte())
        let direction: Direction = flags & 0x80 == 0 ? .fromClient : .fromServer
        if flags & 0x40 != 0 {
            first.missing(count, from: direction, keys: keys, into: whole)
            second.missing(count, from: direction, keys: keys, into: split)
            continue
        }
        let bytes = input.bytes(count | (flags & 0x3f) << 8)
        first.receive(bytes.span.bytes, from: direction, keys: keys, into: whole)
        for start in stride(from: 0, to: bytes.count, by: length) {
            let end = min(start + length, bytes.count)
            second.receive(bytes.span.bytes.extracting(start..<end), from: direction, keys: keys, into: split)
        }
    }
    for direction in Direction.allCases {
        first.finish(from: direction, keys: keys, into: whole)
        second.finish(from: direction, keys: keys, into: split)
        expect(first.counts(from: direction) == second.counts(from: direction), "counts depend on the segmentation")
    }
    expect(whole.calls == split.calls, "\(whole.calls) became \(split.calls)")
    expect(first.heldBytes < 1 << 21, "\(first.heldBytes) bytes are kept")
}

/// Every call as text, per direction.
private final class CheckedTLS: TLSReceiver {
    var calls: [String] = []

    func plaintext(_ bytes: RawSpan, from direction: Direction) {
        calls.append("\(direction) plaintext \(bytes.copied())")
    }

    func lost(plaintextBytes: Int, isExact: Bool, records: Int, from direction: Direction) {
        expect(plaintextBytes >= 0 && records >= 0, "lost \(plaintextBytes) bytes in \(records) records")
        calls.append("\(direction) lost \(plaintextBytes) \(isExact) \(records)")
    }

    func event(_ event: TLSEvent, from direction: Direction) {
        calls.append("\(direction) \(event)")
    }
}

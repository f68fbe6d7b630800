import Streams

/// What a frame must end with, whatever its length says: the constants of its trailer, and a terminator.
package struct FrameEnd: Sendable {
    private let trailer: BinaryHead?
    private let ends: [UInt8]
    /// How many bytes trailer and terminator have.
    private let count: Int

    /// The end of a rule's frames; nil if it may be any bytes.
    ///
    /// - Parameter trailer: fields of a fixed size.
    init?(trailer: BinaryHead?, ends: [UInt8] = []) {
        let hasConstants = trailer?.hasConstants ?? false
        guard hasConstants || !ends.isEmpty else { return nil }
        self.trailer = hasConstants ? trailer : nil
        self.ends = ends
        count = (trailer?.fixedLength ?? 0) + ends.count
    }

    /// What is wrong with the bytes after a body; nil: nothing. A frame without body may have none, such as RESP's null.
    func fault(of tail: RawSpan) -> String? {
        guard tail.byteCount == count else { return nil }
        if let trailer, case .bad(let message) = trailer.scan(tail, at: 0) { return message }
        guard !tail.extracting(count - ends.count..<count).elementsEqual(ends.span.bytes) else { return nil }
        return "the frame does not end in \(shownEnds)"
    }

    /// The evidence of an end without fault.
    func evidence(of tail: RawSpan, _ background: ByteBackground) -> Evidence {
        guard tail.byteCount == count else { return Evidence() }
        var evidence =
            trailer?.evidence(in: tail, at: 0, lengthField: nil, previous: nil, background) ?? Evidence()
        for byte in ends { evidence.constants += background.bits(byte) }
        return evidence
    }

    /// The bytes that every frame ends with; nil if there are none, since a field that varies comes last.
    var lastBytes: [UInt8]? { ends.isEmpty ? trailer?.constantEnd : ends }

    private var shownEnds: String {
        if case .text(let text) = WordLine.text(ends.span.bytes) { return JSONValue.text(text).compactText }
        return "0x" + String(decoding: Base16.encode(ends), as: UTF8.self)
    }
}

/// A rule that may say what its frames end with, besides where.
package protocol EndedRule: FramingRule {
    /// What its frames end with; nil: any bytes.
    var requiredEnd: FrameEnd? { get }
}

extension EndedRule {
    /// If there are such bytes.
    package var checksEnds: Bool { requiredEnd != nil }

    /// What is wrong with the bytes after the body.
    package func endFault(of frame: RawSpan, _ shape: FrameShape) -> String? {
        requiredEnd?.fault(of: frame.extracting(shape.head + shape.body..<shape.total))
    }

    /// That of the bytes after the body.
    package func closingEvidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, _ background: ByteBackground
    ) -> Evidence? {
        guard let requiredEnd else { return Evidence() }
        let frame = bytes.extracting(start..<start + shape.total)
        guard endFault(of: frame, shape) == nil else { return nil }
        return requiredEnd.evidence(of: frame.extracting(shape.head + shape.body..<shape.total), background)
    }
}

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

    /// Whether nothing is wrong with the bytes after a body. A frame without body may have none, such as RESP's null.
    ///
    /// No text is built: every frame is asked, and many places of a search.
    func isMet(by tail: RawSpan) -> Bool {
        guard tail.byteCount == count else { return true }
        if let trailer, !trailer.hasItsConstants(tail) { return false }
        return tail.extracting(count - ends.count..<count).elementsEqual(ends.span.bytes)
    }

    /// What is wrong with bytes that do not meet it.
    func fault(of tail: RawSpan) -> String {
        if let trailer, case .bad(let message) = trailer.scan(tail, at: 0) { return message }
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

    /// The checksums of its frames, as far as a search verifies them.
    var checksums: SearchedChecksums? { get }

    /// Whether these bytes may follow a body.
    func mayEnd(with tail: RawSpan) -> Bool
}

extension EndedRule {
    /// If they are the required ones.
    package func mayEnd(with tail: RawSpan) -> Bool { requiredEnd?.isMet(by: tail) ?? true }

    /// The rule's.
    package func checksums(of shape: FrameShape) -> SearchedChecksums? { checksums }

    /// If there are any.
    package var hasChecksums: Bool { checksums != nil }

    /// If there are such bytes.
    package var checksEnds: Bool { requiredEnd != nil }

    /// What is wrong with the bytes after the body.
    package func endFault(of frame: RawSpan, _ shape: FrameShape) -> String? {
        let tail = frame.extracting(shape.head + shape.body..<shape.total)
        return mayEnd(with: tail) ? nil : requiredEnd?.fault(of: tail)
    }

    /// That of the bytes after the body.
    package func closingEvidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, _ background: ByteBackground
    ) -> Evidence? {
        guard let requiredEnd else { return Evidence() }
        let tail = bytes.extracting(start + shape.head + shape.body..<start + shape.total)
        guard mayEnd(with: tail) else { return nil }
        return requiredEnd.evidence(of: tail, background)
    }
}

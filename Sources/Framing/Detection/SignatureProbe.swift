import Streams

/// Compares the beginning of one direction of a connection with all signatures.
package struct SignatureProbe {
    private var start: [UInt8] = []
    private var open = Signature.all

    /// The matching protocol, and its evidence.
    package private(set) var match: (signature: Signature, evidence: String)?
    /// Whether bytes were seen that may be the beginning of one.
    package var isUndecided: Bool { match == nil && !start.isEmpty && !open.isEmpty }
    /// Whether further bytes are compared.
    package var isOpen: Bool { match == nil && !open.isEmpty }
    /// The protocol that matches for certain, although more bytes would give more detail.
    private var likely: (signature: Signature, evidence: String)?
    /// Whether there is a match of any kind.
    package var mayMatch: Bool { match != nil || likely != nil }
    /// The best match if no more of the beginning is seen.
    package var bestMatch: (signature: Signature, evidence: String)? { match ?? likely }
    /// Approximately how much memory is held.
    package var memory: Int { start.accountedCapacity }

    package init() {}

    /// The next bytes of the stream.
    package mutating func receive(_ bytes: RawSpan) {
        guard match == nil, !open.isEmpty else { return }
        start.append(contentsOf: bytes.extracting(0..<min(bytes.byteCount, Signature.extent - start.count)))
        var left: [Signature] = []
        for signature in open {
            switch signature.judge(start.span.bytes) {
            case .no: break
            case .undecided: left.append(signature)
            case .likely(let evidence):
                likely = (signature, evidence)
                left.append(signature)
            case .yes(let evidence):
                match = (signature, evidence)
                return
            }
        }
        open = start.count < Signature.extent ? left : []
        if open.isEmpty { settle() }
    }

    /// The beginning ends here: at a gap, or the end of the stream.
    package mutating func finish() {
        open = []
        settle()
    }

    /// No more of the beginning will be seen.
    private mutating func settle() {
        match = match ?? likely
        start = []
    }
}

import Streams

/// Compares the beginning of one direction of a connection with all signatures.
package struct SignatureProbe {
    private var start: [UInt8] = []
    private var open = Signature.all

    /// The matching protocol, and its evidence.
    package private(set) var match: (signature: Signature, evidence: String)?
    // Stored: to ask a computed property, a caller in another module copies the whole probe, at every step.
    /// Whether bytes were seen that may be the beginning of one.
    package private(set) var isUndecided = false
    /// Whether further bytes are compared.
    package private(set) var isOpen = !Signature.all.isEmpty
    /// Whether there is a match of any kind.
    package private(set) var mayMatch = false
    /// The protocol that matches for certain, although more bytes would give more detail.
    private var likely: (signature: Signature, evidence: String)?
    /// The best match if no more of the beginning is seen.
    package var bestMatch: (signature: Signature, evidence: String)? { match ?? likely }
    /// Approximately how much memory is held.
    package var memory: Int { start.accountedCapacity }

    package init() {}

    /// The next bytes of the stream.
    package mutating func receive(_ bytes: RawSpan) {
        guard isOpen else { return }
        defer { note() }
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
        note()
    }

    private mutating func note() {
        isOpen = match == nil && !open.isEmpty
        isUndecided = isOpen && !start.isEmpty
        mayMatch = match != nil || likely != nil
    }

    /// No more of the beginning will be seen.
    private mutating func settle() {
        match = match ?? likely
        start = []
    }
}

/// The search for the key and number of the next record that can be decrypted.
struct Recovery: Sendable {
    enum Purpose: Sendable {
        /// After a gap, or a record that could not be decrypted.
        case gap
        /// The server rejected early data: what the next key does not open is passed over (RFC 8446 section 4.2.10).
        case rejectedEarlyData
        /// The secret of accepted early data is not known: what the next key does not open is application data.
        case lostEarlyData
        /// The secret in between is not known: what the next key does not open is not application data.
        case missingSecret
    }

    /// How many sequence numbers are tried at least, and at most.
    static let window = 64
    static let largestWindow = 4_096
    /// How many bytes are decrypted at most for one record's numbers: for short records, of which many may be lost, more of them.
    static let trialBytes = 1 << 20
    /// How many records may fail before the rest is given up.
    static let failureLimit = 8
    /// How many bytes are passed over while the next key does not open anything.
    static let skipLimit = 4 << 20

    let purpose: Purpose
    /// Where the first lost record begins in the stream.
    let start: Int
    /// How many records were passed over whose header is known, and where the last of them ends.
    var knownRecords = 0
    var knownEnd: Int
    /// How many bytes of them are known not to be application data, and of how many records.
    var otherBytes = 0
    var otherRecords = 0
    var failures = 0
    var isReported = false

    init(_ purpose: Purpose, at start: Int) {
        (self.purpose, self.start, knownEnd) = (purpose, start, start)
    }

    /// How many records may lie before the one at `position`.
    ///
    /// - Parameters:
    ///   - length: the length of that record's fragment.
    ///   - overhead: how many bytes a record has at least besides its header.
    func skipped(at position: Int, length: Int, overhead: Int) -> ClosedRange<Int> {
        guard purpose == .gap else { return 0...0 }
        let unknown = position - knownEnd
        guard unknown > 0 else { return knownRecords...knownRecords }
        let longest = RecordHeader.byteCount + RecordHeader.longestFragment
        let fewest = (unknown + longest - 1) / longest
        let window = min(max(Recovery.window, Recovery.trialBytes / (length + 64)), Recovery.largestWindow)
        let most = max(fewest, min(unknown / (RecordHeader.byteCount + overhead), fewest + window - 1))
        return knownRecords + fewest...knownRecords + most
    }

    /// Notes a record that was passed over.
    mutating func pass(_ header: RecordHeader, endingAt end: Int, isApplicationData: Bool) {
        knownRecords += 1
        knownEnd = end
        guard !isApplicationData else { return }
        otherRecords += 1
        otherBytes += header.recordLength
    }
}

/// A key that may open a record, and the numbers it may have.
struct Candidate {
    let epoch: Side.Epoch
    let secret: TrafficSecret?
    let suite: CipherSuite
    let protection: RecordProtection
    let sequences: ClosedRange<UInt64>
    /// Whether it is the key that was in use before.
    let isCurrent: Bool
}

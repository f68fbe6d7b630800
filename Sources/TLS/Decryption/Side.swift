import Streams

/// One direction of a connection.
struct Side: Sendable {
    /// What a record is now.
    enum Phase: Sendable {
        /// Not encrypted yet.
        case plaintext
        /// Encrypted with `protection`, number `sequence`.
        case encrypted
        /// Encrypted, and the key or number is to be found out: see `recovery`.
        case seeking
        /// Encrypted, without keys.
        case opaque
        /// Encrypted, and given up.
        case lost
    }

    /// What its bytes are cut into.
    enum Mode: Sendable {
        case records
        /// The rest of a record of which a part is missing.
        case skipping(Int)
        /// After a gap: the next record is searched for in `search`.
        case searching
        /// Not TLS: bytes are only counted.
        case ignored
    }

    /// Which keys are in use, in order (RFC 8446 section 2); TLS 1.2 has only `application`.
    enum Epoch: Int, Comparable, Sendable {
        case plaintext, early, handshake, application

        static func < (left: Epoch, right: Epoch) -> Bool { left.rawValue < right.rawValue }
    }

    var mode = Mode.records
    var phase = Phase.plaintext
    var epoch = Epoch.plaintext
    var reader = RecordReader()
    var handshake = HandshakeReassembly()
    /// After a gap the beginning of a message may be missing: nothing is read until the keys change.
    var ignoresHandshake = false
    var protection: RecordProtection?
    var secret: TrafficSecret?
    var sequence: UInt64 = 0
    var recovery: Recovery?
    var search = RecordSearch()
    /// The header of a record of which a part is missing.
    var skipped: RecordHeader?
    /// For which handshake there are no keys; until it is reported.
    var lackedKeys: ClientRandom?
    /// Which keys of TLS 1.3 the next encrypted record is the first under, if these are what is lacked: they may still be logged.
    var awaited: Epoch?
    /// Whether records are missing that there were no keys for: the next one's number is not known.
    var hasOpaqueGap = false
    /// Whether a handshake message was decrypted.
    var haveKeysFit = false
    var hasFailed = false
    /// The last bytes of a record that is skipped.
    var tail: [UInt8] = []
    var held = HeldInput()
    /// Where the next record begins in the stream.
    var position = 0
    /// The last known version of a record's header.
    var recordVersion: ProtocolVersion?
    var counts = TLSCounts()
    var hasApplicationData = false
    var hasPadding = false
    var hasEnded = false
    var isFinished = false
    /// The fragment lengths of the encrypted records of a side without keys: the first two.
    var opaqueLengths: [Int] = []

    var isPlaintext: Bool { if case .plaintext = phase { true } else { false } }
}

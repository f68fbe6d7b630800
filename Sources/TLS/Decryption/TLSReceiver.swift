import Streams

/// Receives what a ``TLSConnection`` finds. Per direction, calls come in stream order; bytes are borrowed for the call.
package protocol TLSReceiver: AnyObject {
    /// The plaintext of one record of application data, early data (RFC 8446 section 2.3) included; never empty.
    func plaintext(_ bytes: RawSpan, from direction: Direction)

    /// Plaintext that cannot be had: its records were not captured, or cannot be decrypted.
    ///
    /// - Parameters:
    ///   - plaintextBytes: how many bytes of application data are lost.
    ///   - isExact: whether that follows from the ciphertext's length; otherwise it is an estimate. It is exact for AEAD suites
    ///     without padding if all that was lost is application data.
    ///   - records: how many records are lost, as far as it is known.
    func lost(plaintextBytes: Int, isExact: Bool, records: Int, from direction: Direction)

    /// Something happened at this place of a direction.
    func event(_ event: TLSEvent, from direction: Direction)

    /// What is read from here on was received then: before the call's bytes, if it waited for the other direction.
    func reads(_ arrival: Arrival)

    /// A record is read next.
    ///
    /// - Parameters:
    ///   - number: its number among those of its direction, from 1.
    ///   - offset: where it ends in its direction's stream.
    func reads(record number: Int, endingAt offset: Int, from direction: Direction)

    /// A secret is needed that the call's keys lack: returns all that are known by now, or nil if there are no others.
    func moreKeys() -> KeyLog?
}

/// Defaults, for receivers that need only what was sent.
extension TLSReceiver {
    /// Ignores it.
    package func reads(_ arrival: Arrival) {}

    /// Ignores it.
    package func reads(record number: Int, endingAt offset: Int, from direction: Direction) {}

    /// There are no more.
    package func moreKeys() -> KeyLog? { nil }
}

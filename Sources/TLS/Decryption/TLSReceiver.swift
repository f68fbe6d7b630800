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
}

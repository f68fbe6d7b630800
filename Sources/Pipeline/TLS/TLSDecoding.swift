import Streams
import TLS

/// How a decoder decrypts TLS.
package struct TLSDecoding: Sendable {
    /// The secrets of a key log; nil: only those that the source brings along are used.
    package var keyLog: KeyLog?
    /// Returns what a key log that is still being written has gained since the last call.
    package var more: (@Sendable () -> [UInt8])?
    /// Reads a certificate in DER; nil: certificates are not described.
    package var describe: (@Sendable ([UInt8]) -> TLSFacts.Certificate?)?

    /// With the secrets that the source brings along.
    package init() {}
}

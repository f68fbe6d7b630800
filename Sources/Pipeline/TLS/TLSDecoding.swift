import Streams
import TLS

/// How a decoder decrypts TLS.
public struct TLSDecoding: Sendable {
    /// The secrets of a key log; nil: only those that the source brings along are used.
    public var keyLog: KeyLog?
    /// Returns what a key log that is still being written has gained since the last call.
    public var more: (@Sendable () -> [UInt8])?
    /// Reads a certificate in DER; nil: certificates are not described.
    public var describe: (@Sendable ([UInt8]) -> TLSFacts.Certificate?)?

    /// With the secrets that the source brings along.
    public init() {}
}

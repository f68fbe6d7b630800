import Streams

/// A protocol version as it is written on the wire.
package struct ProtocolVersion: RawRepresentable, Hashable, Comparable, Sendable {
    /// The two bytes, as one number: 0x0303 is TLS 1.2.
    package let rawValue: UInt16

    /// A version by its number.
    package init(rawValue: UInt16) { self.rawValue = rawValue }

    /// SSL 3.0 (RFC 6101).
    package static let ssl3 = ProtocolVersion(rawValue: 0x0300)
    /// TLS 1.0 (RFC 2246).
    package static let tls10 = ProtocolVersion(rawValue: 0x0301)
    /// TLS 1.1 (RFC 4346).
    package static let tls11 = ProtocolVersion(rawValue: 0x0302)
    /// TLS 1.2 (RFC 5246).
    package static let tls12 = ProtocolVersion(rawValue: 0x0303)
    /// TLS 1.3 (RFC 8446).
    package static let tls13 = ProtocolVersion(rawValue: 0x0304)

    /// Older than.
    package static func < (left: ProtocolVersion, right: ProtocolVersion) -> Bool {
        left.rawValue < right.rawValue
    }
}

extension ProtocolVersion: CustomStringConvertible {
    /// `TLS 1.3`, or the number of an unknown one.
    package var description: String {
        switch rawValue {
        case 0x0300: "SSL 3.0"
        case 0x0301...0x0304: "TLS 1.\(rawValue - 0x0301)"
        default: "version 0x" + Hexadecimal.text([UInt8(rawValue >> 8), UInt8(rawValue & 255)])
        }
    }
}

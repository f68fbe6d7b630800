/// An alert (RFC 8446 section 6).
package struct Alert: Hashable, Sendable {
    /// `AlertLevel`: 1 is a warning, 2 is fatal. In TLS 1.3 it says nothing.
    package let level: UInt8
    /// `AlertDescription`.
    package let code: UInt8

    /// An alert from its two bytes.
    package init(level: UInt8, code: UInt8) {
        (self.level, self.code) = (level, code)
    }

    /// The sender sends no more (RFC 8446 section 6.1).
    package var isCloseNotify: Bool { code == 0 }

    /// Whether the connection ends with it: by its level, or by what it is (RFC 8446 section 6.2).
    package var isFatal: Bool { level == 2 || (code != 0 && code != 90 && code != 100 && level != 1) }

    /// The description's name in its RFC, such as `unknown_ca`; `alert 255` if it has none.
    package var name: String { Alert.names[code] ?? "alert \(code)" }

    /// Of the IANA registry "TLS Alerts".
    private static let names: [UInt8: String] = [
        0: "close_notify", 10: "unexpected_message", 20: "bad_record_mac", 21: "decryption_failed",
        22: "record_overflow", 30: "decompression_failure", 40: "handshake_failure", 41: "no_certificate",
        42: "bad_certificate", 43: "unsupported_certificate", 44: "certificate_revoked", 45: "certificate_expired",
        46: "certificate_unknown", 47: "illegal_parameter", 48: "unknown_ca", 49: "access_denied",
        50: "decode_error", 51: "decrypt_error", 52: "too_many_cids_requested", 60: "export_restriction",
        70: "protocol_version", 71: "insufficient_security", 80: "internal_error", 86: "inappropriate_fallback",
        90: "user_canceled", 100: "no_renegotiation", 109: "missing_extension", 110: "unsupported_extension",
        111: "certificate_unobtainable", 112: "unrecognized_name", 113: "bad_certificate_status_response",
        114: "bad_certificate_hash_value", 115: "unknown_psk_identity", 116: "certificate_required",
        117: "general_error", 120: "no_application_protocol", 121: "ech_required",
    ]
}

import Streams

extension TLSFacts.Certificate {
    /// What a trace has of a certificate in DER; nil if it cannot be read.
    package init?(der: [UInt8]) {
        guard let summary = CertificateSummary(der: der) else { return nil }
        self.init(
            subject: summary.subject, issuer: summary.issuer, names: summary.names,
            notBefore: Timestamp(summary.notBefore), notAfter: Timestamp(summary.notAfter),
            sha256: Hexadecimal.text(summary.fingerprint.bytes))
    }
}

extension Timestamp {
    /// The instant of a certificate, or the nearest that a timestamp reaches.
    fileprivate init(_ time: CertificateTime) {
        let (nanoseconds, overflows) = time.seconds.multipliedReportingOverflow(by: 1_000_000_000)
        self.init(nanoseconds: overflows ? (time.seconds < 0 ? .min : .max) : nanoseconds)
    }
}

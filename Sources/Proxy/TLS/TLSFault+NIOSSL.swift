import NIOCore
import NIOSSL
import TLS

extension TLSFault {
    /// The error of a handshake or of a connection's records.
    ///
    /// - Parameters:
    ///   - leg: whose error it is.
    ///   - isLate: whether the handshake was complete.
    ///   - certificate: whether the server has requested one.
    init(
        _ error: any Error, on leg: TLSRequest.Leg, isLate: Bool = false, _ certificate: CertificateRequest = .none
    ) {
        let errors = Self.stack(error)
        let end = leg == .client ? "client" : "server"
        if let alert = errors.lazy.compactMap(Self.alert).first {
            self.init(alert, on: leg, certificate)
            return
        }
        let failure = isLate ? "the TLS connection with the \(end) broke" : "the handshake with the \(end) failed"
        let texts = errors.map { "\($0)" }
        let isOtherHost = (error as? NIOSSLExtraError) == .failedToValidateHostname
        if isOtherHost || texts.contains(where: { $0.contains("CERTIFICATE_VERIFY_FAILED") }) {
            self.init(text: Self.unverified, isUnverified: true)
        } else if texts.contains(where: { $0.contains("EOF during handshake") }) {
            self.init(text: "the \(end) closed the connection during the handshake")
        } else if let reason = texts.lazy.compactMap(Self.reason).first {
            self.init(text: "\(failure): \(reason)")
        } else {
            self.init(text: "\(failure): \(Self.text(error))")
        }
    }

    /// The server's certificate is not accepted.
    static let unverified = "the server's certificate cannot be verified"

    /// Whether the server has requested a certificate, and whether the proxy has one.
    enum CertificateRequest: Sendable {
        case none
        /// The server was shown none.
        case unmet
        /// The server was shown one.
        case met
    }

    /// An alert that was received.
    init(_ alert: Alert, on leg: TLSRequest.Leg, _ certificate: CertificateRequest) {
        let end = leg == .client ? "client" : "server"
        let hint = Self.hint(alert, leg, certificate)
        self.init(text: "the \(end) refused with the alert \(alert.name)\(hint)", alert: alert)
    }

    /// A handshake that cannot begin.
    init(beforehand error: any Error) {
        self = error as? TLSFault ?? TLSFault(text: Self.text(error))
        isBeforehand = true
    }

    /// An error in words.
    static func text(_ error: any Error) -> String {
        switch error {
        case NIOSSLError.handshakeFailed(let cause), NIOSSLError.shutdownFailed(let cause): text(cause)
        case is IOError: ConnectFailure.cause(of: error)
        case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: words("\(error)")
        default: "\(error)"
        }
    }

    /// The name of an error as words: of `Type.noSuchFile(Details)` it is `no such file`.
    private static func words(_ text: String) -> String {
        let name = text.prefix { $0 != "(" && $0 != ":" }.split(separator: ".").last ?? ""
        var (words, isLower) = ("", false)
        for letter in name {
            if letter.isUppercase, isLower { words += " " }
            words += letter.lowercased()
            isLower = letter.isLowercase
        }
        return words
    }

    private static func stack(_ error: any Error) -> NIOBoringSSLErrorStack {
        switch error {
        case NIOSSLError.handshakeFailed(.sslError(let stack)), NIOSSLError.shutdownFailed(.sslError(let stack)),
            BoringSSLError.sslError(let stack):
            stack
        default: []
        }
    }

    /// An alert that was received: BoringSSL's reason is 1000 and its number.
    private static func alert(_ error: BoringSSLInternalError) -> Alert? {
        guard let code = "\(error)".split(separator: " ").dropFirst().first.flatMap({ UInt32($0) }) else { return nil }
        let reason = code & 0xfff
        return (1_000..<1_256).contains(reason) ? Alert(level: 2, code: UInt8(reason - 1_000)) : nil
    }

    /// BoringSSL's reason, such as `WRONG_VERSION_NUMBER`, as words.
    private static func reason(_ text: String) -> String? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        // Error: CODE error:CODE:library:function:REASON at FILE:LINE
        guard parts.count > 5, let reason = parts[5].split(separator: " ").first else { return nil }
        if ["WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST"].contains(reason) {
            return "what it sent is not TLS"
        }
        if reason == "NO_RENEGOTIATION" { return "it requested a renegotiation, which the proxy does not support" }
        return reason.lowercased().split(separator: "_").joined(separator: " ")
    }

    private static func hint(_ alert: Alert, _ leg: TLSRequest.Leg, _ certificate: CertificateRequest) -> String {
        switch (alert.code, leg, certificate) {
        case (42...46, .client, _), (48, .client, _):
            ": the client probably pins its certificate, or does not trust frametap's CA (frametap ca trust)"
        // Before TLS 1.3 there is no alert of its own for a certificate that is missing.
        case (116, .server, _), (40, .server, .unmet), (42...46, .server, .unmet), (48...49, .server, .unmet):
            ": it requires a client certificate (--client-cert)"
        case (40, .server, .met), (42...46, .server, .met), (48...49, .server, .met):
            ": it probably does not accept the client certificate (--client-cert)"
        case (70, _, _): ": it speaks none of the versions offered (--tls-min)"
        default: ""
        }
    }
}

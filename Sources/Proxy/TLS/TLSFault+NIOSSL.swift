import NIOCore
import NIOSSL
import TLS

extension TLSFault {
    /// The error of a handshake or of a connection's records.
    ///
    /// - Parameters:
    ///   - leg: whose error it is.
    ///   - isLate: whether the handshake was complete.
    init(_ error: any Error, on leg: TLSRequest.Leg, isLate: Bool = false) {
        let errors = Self.stack(error)
        let end = leg == .client ? "client" : "server"
        if let alert = errors.lazy.compactMap(Self.alert).first {
            self.init(alert, on: leg)
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

    /// An alert that was received.
    init(_ alert: Alert, on leg: TLSRequest.Leg) {
        let end = leg == .client ? "client" : "server"
        self.init(text: "the \(end) refused with the alert \(alert.name)\(Self.hint(alert, leg))", alert: alert)
    }

    private static func text(_ error: any Error) -> String {
        error is IOError ? ConnectFailure.cause(of: error) : "\(error)"
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
        if reason == "NO_RENEGOTIATION" { return "it began a renegotiation, which the proxy does not take part in" }
        return reason.lowercased().split(separator: "_").joined(separator: " ")
    }

    private static func hint(_ alert: Alert, _ leg: TLSRequest.Leg) -> String {
        switch (alert.code, leg) {
        case (42...46, .client), (48, .client):
            ": the client probably pins its certificate, or does not trust frametap's CA (frametap ca trust)"
        case (116, .server): ": it requires a client certificate (--client-cert)"
        case (70, _): ": it speaks none of the versions offered (--tls-min)"
        default: ""
        }
    }
}

import NIOCore
import NIOPosix
import Platform
import Streams

/// A connection error, in words.
package func connectionCause(of error: any Error) -> String {
    error is NIOConnectionError || error is IOError || error is ChannelError || error is SocketAddressError.UnknownHost
        ? ConnectFailure(error).cause : "\(error)"
}

/// Why a server could not be reached.
struct ConnectFailure: Error {
    /// The message, in words.
    var cause: String
    /// The address that was tried first, if any was.
    var first: SocketAddress?
    /// The reply sent to a SOCKS client (RFC 1928 section 6).
    var reply: SOCKSReply

    init(cause: String, first: SocketAddress? = nil, reply: SOCKSReply) {
        self.cause = cause
        self.first = first
        self.reply = reply
    }

    /// An error while connecting.
    init(_ error: any Error) {
        if let failure = error as? ConnectFailure {
            self = failure
        } else if let failed = error as? NIOConnectionError, let first = failed.connectionErrors.first {
            cause = Self.causes(failed.connectionErrors)
            self.first = first.target
            // A refusal is the most informative error: the host is up.
            let replies = failed.connectionErrors.map { Self.reply(to: $0.error) }
            reply = replies.first { $0 == .refused } ?? replies[0]
        } else {
            cause = Self.cause(of: error)
            reply = Self.reply(to: error)
        }
    }

    /// Each cause once, with the addresses it applies to if there are several.
    private static func causes(_ failures: [SingleConnectionFailure]) -> String {
        guard failures.count > 1 else { return cause(of: failures[0].error) }
        var causes: [(text: String, targets: [String])] = []
        for failure in failures {
            let (text, target) = (cause(of: failure.error), "\(Endpoint(failure.target))")
            if let index = causes.firstIndex(where: { $0.text == text }) {
                causes[index].targets.append(target)
            } else {
                causes.append((text, [target]))
            }
        }
        return causes.map { cause in
            let shown = cause.targets.prefix(4).joined(separator: ", ")
            return "\(cause.text) (\(shown)\(cause.targets.count > 4 ? " and \(cause.targets.count - 4) more" : ""))"
        }.joined(separator: ", ")
    }

    /// The system's error message.
    static func cause(of error: any Error) -> String {
        if let system = error as? IOError { return String(cString: strerror(system.errnoCode)) }
        if case .connectTimeout(let amount)? = error as? ChannelError {
            return "no answer within \(amount.nanoseconds / 1_000_000) ms"
        }
        if let unknown = error as? SocketAddressError.UnknownHost {
            return "no address for \(unknown.host): \(unknown.errorDescription)"
        }
        if let failed = error as? NIOConnectionError, let reason = failed.dnsAError ?? failed.dnsAAAAError {
            return cause(of: reason)
        }
        if case .unixDomainSocketPathTooLong? = error as? SocketAddressError { return "the path is too long" }
        return "\(error)"
    }

    private static func reply(to error: any Error) -> SOCKSReply {
        if let system = error as? IOError {
            switch system.errnoCode {
            case ECONNREFUSED: return .refused
            case ENETUNREACH, ENETDOWN: return .networkUnreachable
            case EHOSTUNREACH, EHOSTDOWN, ETIMEDOUT: return .hostUnreachable
            case EACCES, EPERM: return .notAllowed
            default: return .serverFailure
            }
        }
        if case .connectTimeout? = error as? ChannelError { return .hostUnreachable }
        return error is EntryFault ? .hostUnreachable : .serverFailure
    }
}

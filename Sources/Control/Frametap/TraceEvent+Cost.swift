import Framing
import Streams
import Trace

extension TraceEvent {
    /// About how many bytes of memory its texts, values and bytes take, besides the event itself.
    var contentCost: Int {
        switch self {
        case .trace(let start): Self.cost([start.source, start.tool])
        case .opened(let opened): Self.cost([opened.transport, opened.client, opened.server])
        case .tls(let tls): tls.facts.contentCost
        case .format(let format): Self.cost([format.format, format.by, format.evidence])
        case .frame(let frame): Self.cost([frame.type ?? ""]) + frame.fields.contentCost + frame.body.contentCost
        case .missing(let run), .unframed(let run), .dropped(let run): Self.cost([run.reason, run.detail, run.hex])
        case .finding(let finding):
            Self.cost([finding.kind, finding.severity, finding.message]) + finding.data.contentCost
        case .action(let action): action.report.contentCost
        case .closed(let closed): Self.cost([closed.reason])
        case .summary(let summary):
            Self.cost(summary.findings.map(\.kind)) + Self.cost(summary.skipped.map(\.kind))
        }
    }

    /// What texts take, each with its place in a list.
    fileprivate static func cost(_ texts: [String]) -> Int {
        texts.reduce(0) { $0 + MemoryLayout<String>.stride + $1.utf8.count }
    }
}

extension JSONValue {
    fileprivate var contentCost: Int {
        switch self {
        case .null, .boolean: 0
        case .number(let text), .text(let text): text.utf8.count
        case .array(let values): values.reduce(0) { $0 + MemoryLayout<JSONValue>.stride + $1.contentCost }
        case .object(let members):
            members.reduce(0) { $0 + MemoryLayout<Member>.stride + $1.name.utf8.count + $1.value.contentCost }
        }
    }
}

extension ActionReport {
    fileprivate var contentCost: Int {
        TraceEvent.cost([rule, action, type ?? "", detail]) + before.count + after.count
    }
}

extension TLSFacts {
    fileprivate var contentCost: Int {
        var texts = [version, cipherSuite, serverName, applicationProtocol, clientRandom].compactMap { $0 }
        texts += offeredProtocols + offeredVersions
        if let certificate {
            texts += [certificate.subject, certificate.issuer, certificate.sha256] + certificate.names
        }
        return TraceEvent.cost(texts)
    }
}

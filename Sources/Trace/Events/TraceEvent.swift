import Streams

/// One line of a trace as a value (`docs/trace.md`), to be kept, compared, sent or shown.
///
/// Kinds, severities and reasons are text, since a trace may be of a later version than its reader.
public enum TraceEvent: Hashable, Sendable {
    /// A trace begins.
    case trace(TraceStart)
    /// A connection opened.
    case opened(OpenedEvent)
    /// A connection's TLS.
    case tls(TLSEvent)
    /// The format of a connection is known.
    case format(FormatEvent)
    /// A frame.
    case frame(FrameEvent)
    /// Bytes that were not seen.
    case missing(RunEvent)
    /// Bytes that belong to no frame.
    case unframed(RunEvent)
    /// Bytes that were forwarded but not recorded.
    case dropped(RunEvent)
    /// An analysis found something.
    case finding(FindingEvent)
    /// A rule of the proxy did something.
    case action(ActionEvent)
    /// A connection is over.
    case closed(ClosedEvent)
    /// A trace is over.
    case summary(SummaryEvent)

    /// The number of its connection; nil if it has none.
    public var connection: Int? {
        switch self {
        case .trace, .summary: nil
        case .opened(let opened): opened.connection
        case .tls(let tls): tls.connection
        case .format(let format): format.connection
        case .frame(let frame): frame.connection
        case .missing(let run), .unframed(let run), .dropped(let run): run.connection
        case .finding(let finding): finding.connection
        case .action(let action): action.connection
        case .closed(let closed): closed.connection
        }
    }

    /// The leg of its connection; nil if that has only one, or if the event is about both: `tls`, `action`, and most findings.
    public var leg: Leg? {
        switch self {
        case .trace, .summary, .tls, .action: nil
        case .opened(let opened): opened.leg
        case .format(let format): format.leg
        case .frame(let frame): frame.leg
        case .missing(let run), .unframed(let run), .dropped(let run): run.leg
        case .finding(let finding): finding.leg
        case .closed(let closed): closed.leg
        }
    }

    /// Its time; nil if it has none.
    public var time: Timestamp? {
        switch self {
        case .trace, .format, .summary: nil
        case .opened(let opened): opened.time
        case .tls(let tls): tls.time
        case .frame(let frame): frame.time
        case .missing(let run), .unframed(let run), .dropped(let run): run.time
        case .finding(let finding): finding.time
        case .action(let action): action.report.time
        case .closed(let closed): closed.time
        }
    }
}

/// The first line of a trace.
public struct TraceStart: Hashable, Sendable {
    /// The version of the trace format.
    public var version: Int
    /// What is traced: files, addresses.
    public var source: String
    /// The program that wrote it, and its version.
    public var tool: String
    /// How many lines before it could not be written, if it begins the continuation of a trace.
    public var unwritten: Int

    /// A trace begins.
    package init(version: Int, source: String, tool: String, unwritten: Int = 0) {
        (self.version, self.source, self.tool, self.unwritten) = (version, source, tool, unwritten)
    }
}

import CLibYAML

/// What libyaml's parser reports.
struct Event {
    enum Kind {
        case scalar(String, isPlain: Bool)
        case alias
        case sequenceStart, sequenceEnd
        case mappingStart, mappingEnd
        /// The stream starts, a document starts or ends.
        case start
        /// The stream ended.
        case end
    }

    var kind: Kind
    /// Where it begins.
    var mark: Mark
    /// Whether it is text in double quotes, in which a backslash escapes.
    var isDoubleQuoted: Bool

    init(_ event: borrowing yaml_event_t) {
        (kind, mark) = (Event.kind(event), Mark(event.start_mark))
        isDoubleQuoted = Event.isDoubleQuoted(event)
    }

    private static func isDoubleQuoted(_ event: borrowing yaml_event_t) -> Bool {
        guard event.type == YAML_SCALAR_EVENT else { return false }
        return event.data.scalar.style == YAML_DOUBLE_QUOTED_SCALAR_STYLE
    }

    private static func kind(_ event: borrowing yaml_event_t) -> Kind {
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let bytes = UnsafeBufferPointer(start: scalar.value, count: scalar.length)
            return .scalar(String(decoding: bytes, as: UTF8.self), isPlain: scalar.style == YAML_PLAIN_SCALAR_STYLE)
        case YAML_ALIAS_EVENT: return .alias
        case YAML_SEQUENCE_START_EVENT: return .sequenceStart
        case YAML_SEQUENCE_END_EVENT: return .sequenceEnd
        case YAML_MAPPING_START_EVENT: return .mappingStart
        case YAML_MAPPING_END_EVENT: return .mappingEnd
        case YAML_STREAM_START_EVENT, YAML_DOCUMENT_START_EVENT, YAML_DOCUMENT_END_EVENT: return .start
        default: return .end
        }
    }
}

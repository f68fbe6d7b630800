import Streams

/// The encoding `json`: one JSON value (RFC 8259), at most 512 levels deep. It is shown without white space between tokens.
struct JSONBody: BodyEncoding {
    static let name = "json"
    static let keys = KeySection("body.json", "a JSON value", [])

    init(_ options: YAMLMap?) {}

    var role: BodyRole { .meaning }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep {
        do throws(JSONSyntaxError) {
            return .bytes(try JSONCompaction.of(input), .json)
        } catch {
            return .fault(.badJSON, error.description)
        }
    }

    func check(_ input: RawSpan, _ context: BodyContext) -> BodyCheck {
        guard input.firstInvalidUTF8() == nil else { return .faulty(.badJSON) }
        var tokens = JSONTokens()
        do throws(JSONSyntaxError) {
            while try tokens.next(input) != nil {}
            return .faultless
        } catch {
            return .faulty(.badJSON)
        }
    }

    /// JSON without white space between tokens; text as it is, syntax errors included.
    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        switch content {
        case .text, .bytes: return content.bytes
        case .protobuf: throw EncodingError("the body should be JSON, not Protobuf")
        case .fields: throw EncodingError("the body should be JSON, not fields")
        case .json(let text):
            do throws(JSONSyntaxError) {
                return try JSONCompaction.of(text.span.bytes)
            } catch {
                throw EncodingError("the body is no JSON: \(error)")
            }
        }
    }
}

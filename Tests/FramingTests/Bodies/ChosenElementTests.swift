import Framing
import Streams
import Testing

/// Secrets of those elements of a list that have a member of a certain value.
@Suite struct ChosenElementTests {
    /// Members of what is inside an element are not its own, and do not keep its own from being found.
    @Test(arguments: [
        (
            #"{"items":[{"x":{"y":[1]},"tag":9,"value":"hunter2"}]}"#,
            #"{"items":[{"x":{"y":[1]},"tag":9,"value":"«secret»"}]}"#
        ),
        (
            #"{"items":[{"value":"hunter2","x":{"y":[1]},"tag":9}]}"#,
            #"{"items":[{"value":"«secret»","x":{"y":[1]},"tag":9}]}"#
        ),
        (
            #"{"items":[{"x":[{"tag":9}],"tag":8,"value":"public"},{"tag":9,"value":"hunter2"}]}"#,
            #"{"items":[{"x":[{"tag":9}],"tag":8,"value":"public"},{"tag":9,"value":"«secret»"}]}"#
        ),
    ])
    func areFoundByTheirOwnMembers(json: String, expected: String) {
        var redaction = JSONRedaction([["items", "tag=9", "value"]])
        let text = Array(json.utf8)
        let shown = redaction.of(text.span.bytes).map { String(decoding: $0, as: UTF8.self) }
        #expect(shown == expected)
    }
}

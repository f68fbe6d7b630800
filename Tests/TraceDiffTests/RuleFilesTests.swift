import Testing
import TraceDiff

/// The rules of several files are one set.
@Suite struct RuleFilesTests {
    @Test func rulesOfAllKindsAreAdded() throws {
        let first = try RulesYAML.rules(
            in: """
                mask: [fields.token]
                bind: [{ name: id, places: [fields.id, body.json.id] }]
                ignore: [fields.time, { from: server, type: push }]
                unordered: [{ type: news }]
                """, file: "first.yaml")
        let counts = [first.masks.count, first.bindings.count, first.ignored.count, first.ignoredFrames.count]
        #expect(counts == [1, 1, 1, 1] && first.unordered.count == 1)
        var rules = TraceRules()
        rules.add(first)
        #expect(rules == first)
        let second = try RulesYAML.rules(
            in: """
                mask: [fields.nonce]
                unordered: [{ from: server }]
                """, file: "second.yaml")
        rules.add(second)
        #expect(rules.masks == first.masks + second.masks && rules.unordered == first.unordered + second.unordered)
        #expect(rules.bindings == first.bindings && rules.ignored == first.ignored)
        #expect(rules.ignoredFrames == first.ignoredFrames)
    }
}

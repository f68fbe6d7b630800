import Framing
import Streams
import Testing
import Trace
import TraceDiff

/// What a report of traces that have all values does not show.
@Suite struct HiddenValuesTests {
    private func hidden(_ secrets: String) throws -> HiddenValues? {
        HiddenValues(
            try FormatLoader.load(
                """
                format: secretive
                header: [{ headers: { lines: ": ", ends: "\\n" } }]
                framing: { rule: fields, body: [{ when: 'headers["length"] exists', size: 'headers["length"]' }] }
                body: json
                secret: \(secrets)
                """, file: "secretive"))
    }

    /// The report of two connections, whose values contain `old` and `new`.
    private func report(_ secrets: String, _ expected: RecordedItem, _ actual: RecordedItem) throws -> String {
        var (old, new) = (Traces.trace([[]]), Traces.trace([[]]))
        old.connections[0].items.append(expected)
        new.connections[0].items.append(actual)
        var options = DiffTextOptions()
        options.hidden = try #require(try hidden(secrets))
        options.columns = 200
        return DiffText.of(TraceComparison.compare(expected: old, actual: new), options)
    }

    private func frame(fields: [String: JSONValue] = [:], body: [JSONValue.Member] = []) -> RecordedItem {
        var frame = Traces.frame(.fromClient, "login", fields: fields)
        frame.body = .object([.init("length", .number("9"))] + body)
        return .frame(frame)
    }

    /// Pairs of items that contain `hunter2` and `swordfish` where these secrets are.
    private static let cases:
        [(secrets: String, @Sendable (String) -> (fields: [String: JSONValue], body: [JSONValue.Member]))] = [
            ("[fields.headers.authorization]", { (["headers": .object([.init("Authorization", .text($0))])], []) }),
            ("[fields.headers.authorization]", { (["headers": .object([]), "raw": .text($0)], []) }),
            ("[body.password]", { ([:], [.init("json", .object([.init("password", .text($0))]))]) }),
            (
                "[body.json.user.password]",
                {
                    ([:], [.init("json", .object([.init("user", .object([.init("password", .text($0))]))]))])
                }
            ),
            ("[body.password]", { ([:], [.init("json", .array([.object([.init("password", .text($0))])]))]) }),
            ("[body.password]", { ([:], [.init("text", .text("{\"pass\":\"\($0)\""))]) }),
            ("[body.password]", { ([:], [.init("hex", .text($0 == "hunter2" ? "6875" : "7377"))]) }),
            ("[body]", { ([:], [.init("json", .text($0))]) }),
        ]

    @Test(arguments: cases.indices) func secretsAreNotShown(index: Int) throws {
        let (secrets, values) = Self.cases[index]
        let (old, new) = (values("hunter2"), values("swordfish"))
        let text = try report(
            secrets, frame(fields: old.fields, body: old.body), frame(fields: new.fields, body: new.body))
        #expect(text.contains("frame changed") && text.contains("«secret»"), "\(text)")
        for value in ["hunter2", "swordfish", "6875", "7377"] { #expect(!text.contains(value), "\(text)") }
    }

    @Test func othersAre() throws {
        let text = try report(
            "[body.password, fields.headers.authorization]",
            frame(
                fields: ["headers": .object([.init("Name", .text("ann"))])],
                body: [.init("json", .object([.init("id", .number("1"))]))]),
            frame(
                fields: ["headers": .object([.init("Name", .text("bob"))])],
                body: [.init("json", .object([.init("id", .number("2"))]))]))
        #expect(text.contains("\"ann\" → \"bob\"") && text.contains("1 → 2") && !text.contains("«secret»"), "\(text)")
        #expect(try FormatLoader.load("format: x\nframing: { rule: fixed, size: 2 }", file: "x").secrets.isEmpty)
    }

    /// Bytes that belong to no frame may hold any secret.
    @Test func unframedBytesAreNotShown() throws {
        func run(_ hex: String) -> RecordedItem {
            .unframed(
                RunEvent(
                    from: .fromClient, time: Traces.start, offset: 0, length: hex.count / 2, reason: "no-sync",
                    detail: "",
                    hex: hex))
        }
        let text = try report("[body.password]", run("68756e746572"), run("73776f726466"))
        #expect(!text.contains("6875") && !text.contains("68 75") && !text.contains("hunter"), "\(text)")
    }
}

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
            ("[{ value: body, after: type == \"AUTH\" }]", { ([:], [.init("text", .text($0))]) }),
            // The bytes of a structured body, as they came.
            ("[body.password]", { ([:], [.init("fields", .object([.init("raw", .text($0))]))]) }),
            // One trace has an object around the secret, the other one text in its place.
            (
                "[body.user.password]",
                {
                    let user = JSONValue.object([.init("password", .text($0))])
                    return ([:], [.init("json", .object([.init("user", $0 == "hunter2" ? user : .text($0))]))])
                }
            ),
        ]

    @Test(arguments: cases.indices) func secretsAreNotShown(index: Int) throws {
        let (secrets, values) = Self.cases[index]
        let (old, new) = (values("hunter2"), values("swordfish"))
        let text = try report(
            secrets, frame(fields: old.fields, body: old.body), frame(fields: new.fields, body: new.body))
        #expect(text.contains("frame changed") && text.contains("«secret»"), "\(text)")
        for value in ["hunter2", "swordfish", "6875", "7377"] { #expect(!text.contains(value), "\(text)") }
    }

    /// Heartbeats are no rows: what they say differently is shown after these.
    @Test func secretsOfHeartbeatsAreNotShown() throws {
        func beat(_ token: String) -> RecordedItem {
            let headers = JSONValue.object([.init("authorization", .text(token))])
            return .frame(Traces.frame(.fromClient, "beat", fields: ["headers": headers], heartbeat: true))
        }
        let text = try report("[fields.headers.authorization]", beat("hunter2"), beat("swordfish"))
        #expect(text.contains("♥") && text.contains("fields.headers.authorization"), "\(text)")
        #expect(text.contains("«secret»") && !text.contains("hunter2") && !text.contains("swordfish"), "\(text)")
    }

    /// An object may be added or removed as a whole: with all that is inside.
    @Test func objectsAroundSecretsAreNotShown() throws {
        let values = try #require(try hidden("[body.user.password]"))
        let user = JSONValue.object([.init("password", .text("hunter2"))])
        let mark = JSONValue.text("«secret»")
        let removed = values.shown(FieldChange(path: "body.json.user", old: user, new: .number("5")), from: .fromClient)
        #expect(removed.old == mark && removed.new == mark)
        let added = values.shown(FieldChange(path: "body.json.user", old: nil, new: user), from: .fromServer)
        #expect(added.old == nil && added.new == mark)
        let other = FieldChange(path: "body.json.name", old: .text("ann"), new: .text("bob"))
        #expect(values.shown(other, from: .fromClient) == other)
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

import Framing
import Testing

/// Paths into structures whose names the format knows: one that leads to no value is an error.
@Suite struct StructureNamesTests {
    private func faults(_ yaml: String) -> String {
        do throws(FormatFileError) {
            _ = try FormatLoader.load("format: x\n" + yaml, file: "x.yaml")
            return ""
        } catch {
            return "\(error)"
        }
    }

    private static let body = """
        header: [{ n: u16 }]
        framing: { rule: length-field, field: n }
        body: { fields: [{ op: u8 }, { id: u16 }, { users: { repeat: u8, of: [{ user: { type: string, size: u8 } }, { password: { type: string, size: u8 } }] } }] }

        """

    private static let head = """
        types:
          cred: [{ user: { type: string, size: u8 } }, { password: { type: string, size: u8 } }]
          any: { oneOf: [["p", { plain: { use: cred } }], ["t", { token: { type: bytes, size: u8 } }]] }
          nest: [{ inner: { repeat: u8, of: nest } }]
        header: [{ kind: u8 }, { auth: { use: any } }, { more: { repeat: u8, of: any } }, { meta: { body: json, size: u8 } }, { deep: { use: nest } }]
        framing: { rule: fields }

        """

    @Test(arguments: [
        ("body.pasword", "there is no value pasword; known are op, id, users"),
        ("body.fields.idd", "there is no value idd; did you mean id?"),
        ("body.users[0].pasword", "there is no value pasword in users; did you mean password?"),
        ("body.users[*].pasword", "there is no value pasword in users; did you mean password?"),
        ("body.users.pasword", "there is no value pasword in users; did you mean password?"),
        ("body.users[usr=ann].password", "there is no value usr in users; did you mean user?"),
        ("body.op.password", "op is one value, with nothing inside"),
        ("body.op[0]", "op is one value, with nothing inside"),
    ])
    func misspelledSecretsInBodies(path: String, fault: String) {
        let said = faults(Self.body + "secret: [\"\(path)\"]")
        #expect(said.contains("hides nothing: \(fault)"), "\(said)")
    }

    @Test(arguments: [
        "body.op", "body.fields", "body.users", "body.users[*].password", "body.users.password",
        "body.users[1].password", "body.users[user=ann].password", "body.fields.users[0].password", "body.users.rest",
    ])
    func secretsInBodies(path: String) {
        #expect(faults(Self.body + "secret: [\"\(path)\"]") == "")
    }

    @Test(arguments: [
        ("fields.auth.plain.pasword", "there is no value pasword in plain; did you mean password?"),
        ("fields.auth.plane.password", "there is no value plane in auth; did you mean plain?"),
        ("fields.more[*].tokn", "there is no value tokn in more; did you mean token?"),
        ("fields.auth.token.text", "token is one value, with nothing inside"),
        ("fields.kind.text", "kind is one value, with nothing inside"),
    ])
    func misspelledSecretsInFields(path: String, fault: String) {
        let said = faults(Self.head + "secret: [\"\(path)\"]")
        #expect(said.contains("hides nothing: \(fault)"), "\(said)")
    }

    @Test(arguments: [
        "fields.auth.plain.password", "fields.auth.Plain.Password", "fields.more[*].token", "fields.more.token",
        "fields.more[0].plain", "fields.meta.pw", "fields.meta.a[0].b", "fields.deep.inner[0].inner[1].inner",
    ])
    func secretsInFields(path: String) {
        #expect(faults(Self.head + "secret: [\"\(path)\"]") == "")
    }

    /// The names of frames inside are known, too.
    @Test func secretsInFramesInside() {
        func said(_ path: String) -> String {
            faults(
                """
                header: [{ n: u16 }]
                framing: { rule: length-field, field: n }
                formats: { in: { header: [{ pw: { type: string, size: 6 } }], framing: { rule: fixed, size: 8 }, body: { fields: [{ op: u16 }] } } }
                body: { format: { name: in } }
                secret: ["\(path)"]
                """)
        }
        for path in [
            "body.json[0].fields.pw", "body.json.fields.pw", "body.json[*].body.fields.op", "body.json.unframed",
        ] {
            #expect(said(path) == "")
        }
        #expect(said("body.json[*].fields.pww").contains("there is no field pww; did you mean pw?"))
        #expect(said("body.json[*].body.fields.opp").contains("there is no value opp; did you mean op?"))
        #expect(said("body.json[*].body.json.op").contains("bodies are fields"))
        #expect(
            said("body.json[*].filds.pw").contains("there is no value filds in a frame inside; did you mean fields?"))
    }

    @Test(arguments: [
        ("frame: { type: [{ when: body.opp == 1, is: ask }, { is: other }] }", "did you mean op?"),
        ("frame: { type: [{ when: body.fields.opp == 1, is: ask }, { is: other }] }", "did you mean op?"),
        ("pairs: [{ request: body.op == 1, from: client, answer: body.opp == 2 }]", "did you mean op?"),
        (
            "pairs: [{ request: body.op == 1, from: client, answer: body.op == 2, by: body.idd }]",
            "pairs[0].by is body.idd, but there is no value idd; did you mean id?"
        ),
        ("sequence: { value: body.idd }", "sequence.value is body.idd, but there is no value idd; did you mean id?"),
        ("heartbeat: { when: body.opp == 9, from: client, every: 1 s }", "did you mean op?"),
        (
            "heartbeat: { when: body.op == 9, from: client, every: 1 s, announced: { when: body.op == 1, value: body.idd } }",
            "heartbeat.announced.value is body.idd, but there is no value idd; did you mean id?"
        ),
        ("secret: [{ value: body.id, when: body.opp == 1 }]", "did you mean op?"),
    ])
    func misspelledValues(section: String, fault: String) {
        let said = faults(Self.body + section)
        #expect(said.contains(fault), "\(said)")
        let right = section.replacing("opp", with: "op").replacing("idd", with: "id")
        #expect(faults(Self.body + right) == "")
    }

    /// What is said of both sides may refer to the bodies of either.
    @Test(arguments: [("a", true), ("b", true), ("c", false)]) func bodiesOfEitherSide(name: String, isKnown: Bool) {
        let said = faults(
            """
            header: [{ n: u16 }]
            framing: { rule: length-field, field: n }
            client: { body: { fields: [{ a: u8 }] } }
            server: { body: { fields: [{ b: u8 }] } }
            frame: { type: [{ when: body.\(name) == 1, is: one }, { is: other }] }
            heartbeat: { when: body.\(name) == 2, from: client, every: 1 s }
            """)
        #expect((said == "") == isKnown, "\(said)")
    }
}

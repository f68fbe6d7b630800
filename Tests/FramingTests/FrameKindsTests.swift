import Expressions
import Streams
import Testing

@testable import Framing

/// What is known of a kind of frames is what each frame of the kind says, whatever else is in it.
@Suite struct FrameKindsTests {
    /// Some are decided by the type or the sender, some only for some types, and some never.
    private static let conditions = [
        "type == 'a'", "type == 'a' and fields.flag == 1", "type == 'b' or fields.flag == 2", "type != 'c'",
        "not (type == 'a' and fields.flag == 1)", "fields.flag == 3", "from == client and type == 'b'",
        "type in {'a', 'c'} and (fields.flag > 1 or type == 'c')", "type exists", "not (type exists)",
        "from == server or body.length > 2", "length > 6",
    ]

    private static func format(_ conditions: [String]) throws -> Format {
        let text = """
            format: kinds
            header: [{ length: u8 }, { kind: { type: u8, names: { 1: a, 2: b, 3: c } } }, { flag: u8 }]
            framing: { rule: length-field, field: length, counts: rest }
            frame: { type: kind }
            heartbeat: { when: "\(conditions[0])", from: client, every: 1 s }
            pairs:
              - { request: "\(conditions[1])", from: client, answer: "\(conditions[2])" }
              - { request: "\(conditions[3])", from: server, answer: "\(conditions[4])" }
            secret:
              - { value: fields.flag, when: "\(conditions[5])" }
              - { value: body, when: "\(conditions[6])" }
            """
        return try FormatLoader.load(text, file: "kinds.yaml")
    }

    @Test func kindsAreWhatTheirFramesSay() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var known = 0
        for _ in 0..<60 {
            let conditions = (0..<7).map { _ in Self.conditions.randomElement(using: &generator) ?? "" }
            let place = Comment(rawValue: "seed \(seed): \(conditions)")
            let format = try Self.format(conditions)
            for direction in Direction.allCases {
                let kinds = FrameKinds(format, direction)
                let ruledOut = try RuledOutTypes(
                    conditions[..<2].map { try Expression(parsing: $0) }, format, direction)
                let (side, heartbeat) = (kinds.format, try #require(format.heartbeat).condition)
                for _ in 0..<60 {
                    let body = Int.random(in: 0...5, using: &generator)
                    let frame =
                        [UInt8(2 + body), .random(in: 1...4, using: &generator), .random(in: 0...3, using: &generator)]
                        + [UInt8](repeating: 7, count: body)
                    let shape = FrameShape(head: 3, body: body, tail: 0)
                    let info = FrameInfo(of: shape)
                    let values = FrameValues(info: info, direction: direction)
                    let content = frame.span.bytes
                    func holds(_ condition: Expression) -> Bool {
                        values.fulfil(condition, content: content, shape: shape, format: side)
                    }
                    let found = kinds.kind(of: content, shape)
                    let kind = try #require(found, place)
                    let isHeartbeat = kinds.isHeartbeat(kind, info, content, shape)
                    #expect(isHeartbeat == holds(heartbeat), place)
                    let roles = kinds.roles(kind, info, content, shape)
                    #expect(
                        roles == format.pairConditions(direction).filter { holds($0.condition) }.map(\.role), place)
                    if let secrets = kinds.kinds[kind].secrets {
                        let own = SecretPaths(format.secrets, from: direction) { holds($0) }
                        #expect(secrets.fields == own.fields && secrets.body == own.body, place)
                        known += 1
                    }
                    if ruledOut.contains(content, shape) {
                        let isWanted = try conditions[..<2].contains { holds(try Expression(parsing: $0)) }
                        #expect(!isWanted, place)
                        known += 1
                    }
                }
            }
        }
        #expect(known > 1_000, "seed \(seed)")
    }

    /// What depends on more than the type is not known of a kind.
    @Test func whatVariesIsNotKnown() throws {
        let varying = Array(repeating: "fields.flag == 1", count: 7)
        let kinds = FrameKinds(try Self.format(varying), .fromClient)
        let frame: [UInt8] = [2, 1, 1]
        let found = kinds.kind(of: frame.span.bytes, FrameShape(head: 3, body: 0, tail: 0))
        let kind = try #require(found)
        #expect(kinds.kinds[kind].isHeartbeat == nil && kinds.kinds[kind].secrets == nil)
        #expect(kinds.traits[kind].asksForHeartbeat && kinds.traits[kind].asksForPairs)
    }
}

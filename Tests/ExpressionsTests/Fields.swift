import Expressions
import Platform

/// A frame of the tests.
struct Fields: FieldSource {
    var values: [String: Value]

    func value(at path: [String]) -> Value {
        values[path.joined(separator: "/")] ?? .absent
    }

    /// An im-json text frame, and one of everything.
    static let sample = Fields(values: [
        "type": .text("img"), "length": .integer(1448), "from": .text("client"), "heartbeat": .boolean(false),
        "fields/size": .text("5"), "fields/targetID": .text("CinentB"), "fields/user-id": .integer(7),
        "fields/empty": .text(""), "fields/zero": .integer(0), "fields/用户": .text("甲"),
        "body/text": .text("A心跳 x\nsecond"), "body/json/items/0/id": .number(2.5),
        "body/bytes": .bytes([0xff, 0xd8, 0xff, 0xe0, 0x00]), "body/protobuf/1/2": .unsigned(.max),
        "flags": .unsigned(0x82), "minimum": .integer(.min),
    ])
}

extension Expression {
    /// Parses an expression that is known to be valid.
    init(_ text: String) throws {
        try self.init(parsing: text)
    }
}

/// A random generator whose seed a test can print.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    /// SplitMix64.
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    /// A seed for this run, printed so that a failure can be reproduced with `FRAMETAP_SEED`.
    static func printed(_ test: String) -> SeededGenerator {
        let given = getenv("FRAMETAP_SEED").flatMap { UInt64(String(cString: $0)) }
        let seed = given ?? UInt64.random(in: 0 ... .max)
        print("\(test): FRAMETAP_SEED=\(seed)")
        return SeededGenerator(seed: seed)
    }
}

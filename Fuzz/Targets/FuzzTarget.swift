/// What is fuzzed. A new target is a case, a line in `run`, and a folder of seeds in `Fuzz/corpus`.
enum FuzzTarget: String, CaseIterable {
    case rules, conversations, bodies, formats, expressions, captures, indexes, packets, reassembly, tls

    /// The one that the first argument names.
    static let chosen = CommandLine.arguments.dropFirst().first.flatMap { FuzzTarget(rawValue: $0) }

    /// Runs one input; what is wrong traps.
    func run(_ input: FuzzInput) {
        switch self {
        case .rules: fuzzRules(input)
        case .conversations: fuzzConversations(input)
        case .bodies: fuzzBodies(input)
        case .formats: fuzzFormats(input)
        case .expressions: fuzzExpressions(input)
        case .captures: fuzzCaptures(input)
        case .indexes: fuzzIndexes(input)
        case .packets: fuzzPackets(input)
        case .reassembly: fuzzReassembly(input)
        case .tls: fuzzTLS(input)
        }
    }
}

/// An input's bytes: those that choose come first.
struct FuzzInput {
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) {
        rest = bytes[...]
    }

    /// The next byte; 0 at the end.
    mutating func byte() -> Int { Int(rest.popFirst() ?? 0) }

    /// The next bytes, fewer at the end.
    mutating func bytes(_ count: Int) -> [UInt8] {
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// The rest as text.
    var text: String { String(decoding: rest, as: UTF8.self) }
}

/// Traps, saying what should have been.
func expect(_ isTrue: Bool, _ message: @autoclosure () -> String) {
    if !isTrue { fatalError(message()) }
}

/// A pattern as instructions of a Thompson machine.
struct PatternProgram: Sendable {
    enum Instruction {
        /// Takes this scalar.
        case scalar(UInt32)
        /// Takes a scalar of the set with this index.
        case set(Int)
        /// Continues if this holds here.
        case assertion(PatternAssertion)
        /// Continues at both places.
        case split(Int, Int)
        case jump(Int)
        case match
    }

    private(set) var instructions: [Instruction] = []
    private(set) var sets: [ScalarSet] = []
    /// Elements compiled so far, with repetitions: the bound for patterns that repeat nothing a million times.
    private var steps = 0
    private let origin: Int

    /// The most instructions a pattern may become. Matching a scalar takes at most as many steps.
    static let sizeLimit = 4096

    /// - Parameter offset: where the pattern begins in the text that errors refer to.
    init(_ tree: PatternTree, at offset: Int) throws(Fault) {
        origin = offset
        try compile(tree, nil)
        try emit(.match, nil)
    }

    /// Whether a match can only begin where the text does.
    var isAnchored: Bool {
        if case .assertion(.textStart) = instructions[0] { true } else { false }
    }

    /// The ASCII scalar that every match begins with, if there is one.
    var firstByte: UInt8? {
        if case .scalar(let value) = instructions[0], value < 0x80 { UInt8(value) } else { nil }
    }

    /// The ASCII scalar that the text begins with if there is a match, as far as that is easy to say.
    var textStart: UInt8? {
        guard isAnchored, case .scalar(let value) = instructions[1], value < 0x80 else { return nil }
        return UInt8(value)
    }

    private mutating func emit(_ instruction: Instruction, _ outermost: Int?) throws(Fault) {
        guard instructions.count < PatternProgram.sizeLimit else { throw tooLarge(outermost) }
        instructions.append(instruction)
    }

    private func tooLarge(_ outermost: Int?) -> Fault {
        Fault(
            outermost ?? origin,
            "the pattern is too large: its repetitions make more than \(PatternProgram.sizeLimit) steps")
    }

    /// - Parameter outermost: where the outermost enclosing count is: reported as the cause of too large a program.
    private mutating func compile(_ tree: PatternTree, _ outermost: Int?) throws(Fault) {
        steps += 1
        guard steps <= 4 * PatternProgram.sizeLimit else { throw tooLarge(outermost) }
        switch tree {
        case .scalar(let value): try emit(.scalar(value), outermost)
        case .set(let set):
            try emit(.set(sets.count), outermost)
            sets.append(set)
        case .assertion(let assertion): try emit(.assertion(assertion), outermost)
        case .sequence(let items): for item in items { try compile(item, outermost) }
        case .alternatives(let branches): try compile(branches, outermost)
        case .repeated(let item, let least, let most, let own):
            let offset = outermost ?? own
            for _ in 0..<least { try compile(item, offset) }
            guard let most else { return try compile(anyNumberOf: item, offset) }
            var splits: [Int] = []
            for _ in least..<most {
                splits.append(instructions.count)
                try emit(.match, offset)
                try compile(item, offset)
            }
            for split in splits { instructions[split] = .split(split + 1, instructions.count) }
        }
    }

    private mutating func compile(anyNumberOf item: PatternTree, _ outermost: Int?) throws(Fault) {
        let split = instructions.count
        try emit(.match, outermost)
        try compile(item, outermost)
        try emit(.jump(split), outermost)
        instructions[split] = .split(split + 1, instructions.count)
    }

    private mutating func compile(_ branches: [PatternTree], _ outermost: Int?) throws(Fault) {
        var jumps: [Int] = []
        for branch in branches.dropLast() {
            let split = instructions.count
            try emit(.match, outermost)
            try compile(branch, outermost)
            jumps.append(instructions.count)
            try emit(.match, outermost)
            instructions[split] = .split(split + 1, instructions.count)
        }
        if let last = branches.last { try compile(last, outermost) }
        for jump in jumps { instructions[jump] = .jump(instructions.count) }
    }
}

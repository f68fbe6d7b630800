/// A pattern as parsed.
indirect enum PatternTree {
    case scalar(UInt32)
    case set(ScalarSet)
    case assertion(PatternAssertion)
    case sequence([PatternTree])
    case alternatives([PatternTree])
    /// `offset`: where the count is in the text, for errors.
    case repeated(PatternTree, least: Int, most: Int?, offset: Int)
}

/// A zero-width assertion between two scalars.
enum PatternAssertion: Sendable {
    case textStart, textEnd, lineStart, lineEnd, wordBoundary, noWordBoundary

    /// Whether it holds between two scalars; nil represents the ends of the text.
    func holds(between previous: UInt32?, and next: UInt32?) -> Bool {
        switch self {
        case .textStart: previous == nil
        case .textEnd: next == nil
        case .lineStart: previous == nil || previous == 0x0a
        case .lineEnd: next == nil || next == 0x0a
        case .wordBoundary: isBoundary(previous, next)
        case .noWordBoundary: !isBoundary(previous, next)
        }
    }

    private func isBoundary(_ previous: UInt32?, _ next: UInt32?) -> Bool {
        (previous.map(ScalarSet.isWord) ?? false) != (next.map(ScalarSet.isWord) ?? false)
    }
}

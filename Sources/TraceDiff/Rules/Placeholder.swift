/// A part of a template that represents a part of a text which differs in each run.
struct Placeholder: Hashable, Sendable {
    /// The kind of such a part.
    enum Kind: String, CaseIterable, Sendable {
        /// Decimal digits; optionally with a sign, a fraction and an exponent.
        case number
        /// A UUID (RFC 9562).
        case uuid
        /// A date, with or without a time of day, in the usual spellings.
        case datetime
        /// A time of day.
        case time
        /// Hexadecimal digits.
        case hex
        /// Letters, digits and the other characters of Base64, but not an ordinary word.
        case token
    }

    var kind: Kind
    /// How many characters it may have; for numbers, digits before the decimal point.
    var least: Int
    var most: Int

    /// `«number 3-7»`, `«uuid»`
    var description: String {
        switch kind {
        case .uuid, .datetime, .time: "«\(kind.rawValue)»"
        case .number, .hex, .token: "«\(kind.rawValue) \(least == most ? "\(least)" : "\(least)-\(most)")»"
        }
    }

    /// Parses the description between `«` and `»`; nil if it is not one.
    init?(_ text: Substring) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard let kind = parts.first.flatMap({ Kind(rawValue: String($0)) }), parts.count <= 2 else { return nil }
        self.init(kind, 1, 4_096)
        guard parts.count == 2 else { return }
        let ends = parts[1].split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard let least = ends.first ?? nil, let most = ends.last ?? nil, ends.count <= 2, least > 0, most >= least
        else {
            return nil
        }
        (self.least, self.most) = (least, most)
    }

    init(_ kind: Kind, _ least: Int, _ most: Int) {
        (self.kind, self.least, self.most) = (kind, least, most)
    }

    /// How many of a text's characters may match here, the longest first.
    ///
    /// - Parameter text: the text from here on.
    func lengths(in text: ArraySlice<UInt8>) -> [Int] {
        switch kind {
        case .uuid: return TextShapes.uuid(text).map { [$0] } ?? []
        case .datetime: return TextShapes.datetime(text).map { [$0] } ?? []
        case .time: return TextShapes.time(text).map { [$0] } ?? []
        case .number: return TextShapes.number(text, least, most).map { [$0] } ?? []
        case .hex: return runs(in: text, TextShapes.isHexDigit) { _ in true }
        case .token: return runs(in: text, TextShapes.isTokenByte, TextShapes.mayBeToken)
        }
    }

    private func runs(
        in text: ArraySlice<UInt8>, _ belongs: (UInt8) -> Bool, _ fits: (ArraySlice<UInt8>) -> Bool
    ) -> [Int] {
        let run = text.prefix(most).prefix(while: belongs)
        guard run.count >= least else { return [] }
        return (least...run.count).reversed().filter { fits(run.prefix($0)) }
    }
}

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

    /// How many of a text's characters may match here, the longest first. They are found one by one: to tell whether a length is
    /// one of them may take a look at all of the characters.
    struct Lengths {
        /// The characters that may belong to the placeholder.
        private let run: ArraySlice<UInt8>
        private let least: Int
        private let fits: ((ArraySlice<UInt8>) -> Bool)?
        /// The length to look at next.
        private var length: Int

        /// One length; none, if it is nil.
        init(only length: Int?) {
            run = []
            least = length ?? 1
            fits = nil
            self.length = length ?? 0
        }

        /// Those from `least` up to all of the characters for which the first ones fit; nil: they always do.
        init(_ run: ArraySlice<UInt8>, from least: Int, fits: ((ArraySlice<UInt8>) -> Bool)? = nil) {
            (self.run, self.least, self.fits) = (run, least, fits)
            length = run.count
        }

        /// The next one; nil if there is none, or the budget is used up.
        ///
        /// - Parameter budget: how many bytes may still be looked at.
        mutating func next(_ budget: inout Int) -> Int? {
            while length >= least, budget > 0 {
                let next = length
                length -= 1
                guard let fits else { return next }
                budget -= next
                if fits(run.prefix(next)) { return next }
            }
            return nil
        }
    }

    /// How many of a text's characters may match here.
    ///
    /// - Parameters:
    ///   - text: the text from here on.
    ///   - budget: how many bytes may still be looked at.
    func lengths(in text: ArraySlice<UInt8>, _ budget: inout Int) -> Lengths {
        switch kind {
        case .uuid: return Lengths(only: TextShapes.uuid(text))
        case .datetime: return Lengths(only: TextShapes.datetime(text))
        case .time: return Lengths(only: TextShapes.time(text))
        case .number:
            let length = TextShapes.number(text, least, most)
            budget -= length ?? 0
            return Lengths(only: length)
        case .hex:
            let run = text.prefix(most).prefix(while: TextShapes.isHexDigit)
            budget -= run.count
            return Lengths(run, from: least)
        case .token:
            let run = text.prefix(most).prefix(while: TextShapes.isTokenByte)
            budget -= run.count
            return Lengths(run, from: least, fits: TextShapes.mayBeToken)
        }
    }
}

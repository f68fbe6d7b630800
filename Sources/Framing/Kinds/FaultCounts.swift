/// How many bodies are not what they should be, by what is wrong.
package struct FaultCounts: Sendable {
    /// Of so many of a kind and direction each is told; of more only how many there were.
    package static let reported = 10

    private var badJSON = 0
    private var badBody = 0
    private var wrongKey = 0

    /// None.
    package init() {}

    /// How many there are of a kind.
    package subscript(kind: BodyFault.Kind) -> Int {
        switch kind {
        case .badJSON: badJSON
        case .badBody: badBody
        case .wrongKey: wrongKey
        }
    }

    /// Counts one if those that are told each were there already; says whether.
    @inline(__always)
    mutating func countAnother(_ kind: BodyFault.Kind) -> Bool { self[kind] >= Self.reported && !count(kind) }

    /// Counts one; says whether it is among those that are told each.
    @inline(__always)
    mutating func count(_ kind: BodyFault.Kind) -> Bool {
        switch kind {
        case .badJSON: badJSON &+= 1
        case .badBody: badBody &+= 1
        case .wrongKey: wrongKey &+= 1
        }
        return self[kind] <= Self.reported
    }
}

import Streams

/// How many bodies are faulty, by kind of fault.
package struct FaultCounts: Sendable {
    /// Up to this many of a kind and direction are reported individually; beyond that only their number.
    package static let reported = 10

    private var badJSON = 0
    private var badBody = 0
    private var wrongKey = 0

    /// None.
    package init() {}

    /// Packs or unpacks them.
    mutating func pass(through numbers: inout PackedNumbers) {
        numbers.pass(&badJSON)
        numbers.pass(&badBody)
        numbers.pass(&wrongKey)
    }

    /// How many there are of a kind.
    package subscript(kind: BodyFault.Kind) -> Int {
        switch kind {
        case .badJSON: badJSON
        case .badBody: badBody
        case .wrongKey: wrongKey
        }
    }

    /// Counts one if the individually reported ones are used up; returns whether it did.
    @inline(__always)
    mutating func countAnother(_ kind: BodyFault.Kind) -> Bool { self[kind] >= Self.reported && !count(kind) }

    /// Counts one; returns whether it is to be reported individually.
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

import Framing
import Trace

/// How much of the content the rules mask.
package struct MaskedShare: Hashable, Sendable {
    /// The characters of all compared values, on both sides.
    package internal(set) var characters = 0
    /// Those among them that are masked.
    package internal(set) var masked = 0
    /// All frames, and those with something masked.
    package internal(set) var frames = 0
    /// Frames with something masked.
    package internal(set) var maskedFrames = 0

    /// The masked fraction, from 0 to 1.
    package var share: Double { characters == 0 ? 0 : Double(masked) / Double(characters) }

    mutating func add(_ other: MaskedShare) {
        characters += other.characters
        masked += other.masked
        frames += other.frames
        maskedFrames += other.maskedFrames
    }

    /// `the rules mask 3.4 % of what was said, in 12 of 86 frames`
    package var description: String {
        let permille = characters == 0 ? 0 : (masked * 1_000 + characters / 2) / characters
        let shown = masked > 0 && permille == 0 ? "less than 0.1" : "\(permille / 10).\(permille % 10)"
        return
            "the rules mask \(shown) % of what was said, in \(maskedFrames) of \(Quantities.counted(frames, "frame"))"
    }
}

extension JSONValue {
    /// How many characters the nested values have.
    var characterCount: Int {
        switch self {
        case .text(let text), .number(let text): text.utf8.count
        case .object(let members): members.reduce(0) { $0 + $1.value.characterCount }
        case .array(let values): values.reduce(0) { $0 + $1.characterCount }
        case .null, .boolean: 1
        }
    }
}

import Framing

/// The types of frames as shown in lines, formatted once per kind.
struct TypeTexts {
    private var known: [(kinds: FrameKinds, texts: [TextPiece])] = []

    /// Uses the text for a kind of frames.
    @inline(__always)
    mutating func withText(of kind: Int, in kinds: FrameKinds, columns: Int, _ use: (borrowing TextPiece) -> Void) {
        let place = place(of: kind, in: kinds, columns)
        use(known[place].texts[kind])
    }

    private mutating func place(of kind: Int, in kinds: FrameKinds, _ columns: Int) -> Int {
        var place = 0
        while place < known.count, known[place].kinds !== kinds { place += 1 }
        if place == known.count {
            // Many connections have few formats, except perhaps in tests.
            if known.count >= 64 { known.removeAll() }
            place = known.count
            known.append((kinds, []))
        }
        while known[place].texts.count <= kind {
            let type = kinds.kinds[known[place].texts.count].type ?? "-"
            known[place].texts.append(TextPiece(PrintableText.of(type, columns: columns)))
        }
        return place
    }
}

import Streams

/// The kinds of one layout, by the bytes that determine them.
///
/// A class: looking one up copies nothing. Nothing called here re-enters to change it, so exclusivity is not checked.
final class LayoutKinds {
    let source: TypeSource
    /// The kind of all frames, if they share one.
    @exclusivity(unchecked) private var same: Int?
    @exclusivity(unchecked) private var numbers: [UInt64: Int] = [:]
    /// Values of JSON members as written, quotes included.
    @exclusivity(unchecked) private var values: [(bytes: [UInt8], kind: Int)] = []

    private let patterns = HeadPatterns()

    private static let mostValues = 64
    private static let longestValue = 64

    init(_ source: TypeSource) {
        self.source = source
    }

    /// Whether a few bytes determine the type.
    var hasSource: Bool {
        if case .unknown = source { false } else { true }
    }

    /// The kind remembered for a frame; nil if none is.
    func known(_ content: RawSpan, _ shape: FrameShape) -> Int? {
        switch source {
        case .same: return same
        case .unknown: return nil
        case .number(let place): return numbers[place.value(in: content, at: 0)]
        case .member(let name):
            guard let place = place(of: name, content, shape) else { return nil }
            for known in values where known.bytes.count == place.count {
                if known.bytes.span.bytes.elementsEqual(content.extracting(place)) { return known.kind }
            }
            return nil
        }
    }

    /// Remembers a kind; false if there is no room for it.
    func remember(_ kind: Int, _ content: RawSpan, _ shape: FrameShape) -> Bool {
        switch source {
        case .unknown: return false
        case .same: same = kind
        case .number(let place): numbers[place.value(in: content, at: 0)] = kind
        case .member(let name):
            guard let place = place(of: name, content, shape), place.count <= Self.longestValue,
                values.count < Self.mostValues
            else { return false }
            values.append((content.copied(place), kind))
        }
        return true
    }

    private func place(of name: JSONMemberName, _ content: RawSpan, _ shape: FrameShape) -> Range<Int>? {
        let head = content.extracting(0..<shape.head)
        let match = patterns.match(head, at: 0)
        if let match, match.end == shape.head { return match.value }
        let place = JSONHead.place(of: name, in: head)
        if match == nil, place != nil { patterns.learn(head, name) }
        return place
    }
}

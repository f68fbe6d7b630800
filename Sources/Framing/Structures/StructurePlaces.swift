import Expressions
import Streams

/// Where the outermost values of a header are.
struct StructurePlaces: StructureVisitor {
    static var wantsValues: Bool { true }

    /// A value.
    struct Place {
        var name: String
        var value: FieldValue
        /// What it is; nil if it consists of several.
        var item: Structure.Item?
        /// Its bytes, without the size before it and the end after it.
        var range: Range<Int>
    }

    private var places: [Place] = []
    private var depth = 0

    /// The outermost values of a whole header that have bytes of their own, in order; named bits have none.
    static func all(_ structure: Structure, in head: RawSpan) -> [Place] {
        var walk = StructureWalk()
        var visitor = StructurePlaces()
        guard walk.go(structure, head, end: head.byteCount, &visitor) == .complete else { return [] }
        let scope = walk.scope
        return visitor.places.compactMap { place in
            var place = place
            guard var item = place.item else { return place }
            switch item.content {
            case .field(var field):
                if let flag = item.littleEndian { field.order = flag.evaluate(scope) ? .little : .big }
                item.content = .field(field)
                place.item = item
            case .words(let line):
                let words = line.places(in: head.extracting(place.range)) ?? []
                guard let word = words.first(where: { $0.name == place.name }) else { return nil }
                let start = place.range.lowerBound
                place.range = start + word.range.lowerBound..<start + word.range.upperBound
            case .lines(let lines):
                let end = lines.ends.ending(head.copied(place.range)) ?? []
                place.range = place.range.lowerBound..<place.range.upperBound - end.count
            default: break
            }
            return place
        }
    }

    mutating func begin(_ name: String, isList: Bool, isFlat: Bool) {
        if depth == 0 { places.append(Place(name: name, value: .null, item: nil, range: 0..<0)) }
        depth += 1
    }

    mutating func end() { depth -= 1 }

    mutating func value(_ name: String, _ value: FieldValue, _ item: Structure.Item, _ place: Range<Int>) {
        guard depth == 0 else { return extend(to: place) }
        if value == .null { return }
        switch item.content {
        case .computed: return
        case .field(let field) where field.name != name: return
        default: places.append(Place(name: name, value: value, item: item, range: place))
        }
    }

    mutating func literal(_ place: Range<Int>) { if depth > 0 { extend(to: place) } }

    /// The group or list that is being read has these bytes, too.
    private mutating func extend(to place: Range<Int>) {
        guard let last = places.indices.last else { return }
        let range = places[last].range
        places[last].range = range.isEmpty ? place : range.lowerBound..<max(range.upperBound, place.upperBound)
    }
}

import Streams

/// Which few bytes of a frame's head determine its type.
enum TypeSource {
    /// None: all frames of the layout have the same.
    case same
    /// A number at a fixed place.
    case number(FixedPlace)
    /// The value of a member of a JSON head.
    case member(JSONMemberName)
    /// Each frame must be examined.
    case unknown

    init(_ name: TypeName, in layout: FrameLayout) {
        switch name {
        case .none, .layout: self = .same
        case .value, .cases: self = .unknown
        case .field(let name): self = Self.source(ofField: name, in: layout)
        }
    }

    private static func source(ofField name: String, in layout: FrameLayout) -> TypeSource {
        if layout.head is JSONHead { return .member(JSONMemberName(name)) }
        guard let head = layout.head as? BinaryHead else {
            return layout.trailer == nil && layout.head == nil ? .same : .unknown
        }
        guard let index = head.fields.firstIndex(where: { $0.name == name || $0.bits.contains { $0.name == name } })
        else { return layout.trailer == nil ? .same : .unknown }
        guard index < head.fixedOffsets.count else { return .unknown }
        switch head.fields[index].kind {
        case .unsigned(let width), .signed(let width):
            // Which number it is does not matter as long as it is always the same: one order will do.
            let place = FixedPlace(offset: head.fixedOffsets[index], width: width, order: .big)
            return place.map { .number($0) } ?? .unknown
        default: return .unknown
        }
    }
}

/// A small cache of kinds by numbers.
struct KindSlots {
    private var slots: [(key: UInt64, kind: Int32)] = Array(repeating: (0, -1), count: 256)

    /// The place of a number among 256: small numbers are spread, in either byte order.
    @inline(__always)
    static func slot(_ key: UInt64) -> Int { Int(truncatingIfNeeded: (key &* 0x9e37_79b9_7f4a_7c15) >> 56) }

    /// The kind of a number; -1 if absent.
    @inline(__always)
    func kind(of key: UInt64) -> Int {
        let slot = slots[Self.slot(key)]
        return slot.key == key ? Int(slot.kind) : -1
    }

    mutating func remember(_ kind: Int, for key: UInt64) {
        slots[Self.slot(key)] = (key, Int32(kind))
    }
}

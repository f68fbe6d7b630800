import Streams

/// Which few bytes of a frame's head tell its type.
enum FrameTelling {
    /// None: all frames of the layout have the same.
    case same
    /// A number at a fixed place.
    case number(offset: Int, width: Int)
    /// The value of a member of a JSON head.
    case member(String)
    /// It takes a closer look at each frame.
    case unknown

    init(_ name: TypeName, in layout: FrameLayout) {
        switch name {
        case .none, .layout: self = .same
        case .value, .cases: self = .unknown
        case .field(let name): self = Self.telling(name, in: layout)
        }
    }

    private static func telling(_ name: String, in layout: FrameLayout) -> FrameTelling {
        if layout.head is JSONHead { return .member(name) }
        guard let head = layout.head as? BinaryHead else { return layout.trailer == nil ? .same : .unknown }
        guard let index = head.fields.firstIndex(where: { $0.name == name || $0.bits.contains { $0.name == name } })
        else { return layout.trailer == nil ? .same : .unknown }
        guard index < head.fixedOffsets.count else { return .unknown }
        switch head.fields[index].kind {
        case .unsigned(let width), .signed(let width): return .number(offset: head.fixedOffsets[index], width: width)
        default: return .unknown
        }
    }
}

/// The kinds of one layout, by the bytes that tell them.
struct LayoutKinds {
    private let telling: FrameTelling
    /// The kind of all frames, where they have the same.
    private var same: Int?
    /// A small cache of numbers by their low bits, and all of them.
    private var slots: [(key: UInt64, kind: Int32)] = []
    private var numbers: [UInt64: Int] = [:]
    /// Values of JSON members as they are written, the quotes included.
    private var values: [(bytes: [UInt8], kind: Int)] = []

    private static let slotCount = 256
    private static let mostValues = 64
    private static let longestValue = 64

    init(_ telling: FrameTelling) {
        self.telling = telling
        if case .number = telling { slots = Array(repeating: (0, -1), count: Self.slotCount) }
    }

    var isTelling: Bool {
        if case .unknown = telling { false } else { true }
    }

    @inline(__always)
    func known(_ content: RawSpan, _ shape: FrameShape) -> Int? {
        switch telling {
        case .same: return same
        case .unknown: return nil
        case .number(let offset, let width):
            let key = content.unsigned(at: offset, width: width, .big)
            let slot = slots[Int(key & UInt64(Self.slotCount - 1))]
            if slot.key == key, slot.kind >= 0 { return Int(slot.kind) }
            return numbers[key]
        case .member(let name):
            guard let place = Self.place(of: name, content, shape) else { return nil }
            for known in values where known.bytes.count == place.count {
                if known.bytes.span.bytes.elementsEqual(content.extracting(place)) { return known.kind }
            }
            return nil
        }
    }

    /// Remembers a kind; false where there is no room for it.
    mutating func remember(_ kind: Int, _ content: RawSpan, _ shape: FrameShape) -> Bool {
        switch telling {
        case .unknown: return false
        case .same: same = kind
        case .number(let offset, let width):
            let key = content.unsigned(at: offset, width: width, .big)
            let slot = Int(key & UInt64(Self.slotCount - 1))
            if slots[slot].kind < 0 { slots[slot] = (key, Int32(kind)) }
            numbers[key] = kind
        case .member(let name):
            guard let place = Self.place(of: name, content, shape), place.count <= Self.longestValue,
                values.count < Self.mostValues
            else { return false }
            values.append((content.copied(place), kind))
        }
        return true
    }

    private static func place(of name: String, _ content: RawSpan, _ shape: FrameShape) -> Range<Int>? {
        JSONHead.place(of: name, in: content.extracting(0..<shape.head))
    }
}

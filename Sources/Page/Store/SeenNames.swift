import Framing
import Streams
import Trace

/// The types and fields that frames of a format have had: what conditions may name.
struct SeenNames: Sendable {
    struct Names: Sendable {
        var types = PerDirection<Set<UInt32>>(fromClient: [], fromServer: [])
        var fields: Set<String> = []
        /// How many frames of each type were looked at.
        fileprivate var looked: [UInt32: Int] = [:]
        /// Of how many types frames were looked at.
        var lookedAt: Int { looked.count }
    }

    private(set) var formats: [String: Names] = [:]

    /// At most how many formats, and names of each kind, are remembered; and how many frames of a type are looked at.
    static let most = (formats: 256, names: 1_000, frames: 32)

    /// Takes a frame.
    ///
    /// - Parameter type: its type's number; 0 without one.
    mutating func take(_ frame: FrameEvent, of format: String, type: UInt32) {
        guard formats[format] != nil || formats.count < Self.most.formats else { return }
        if type != 0, formats[format, default: Names()].types[frame.from].count < Self.most.names {
            formats[format, default: Names()].types[frame.from].insert(type)
        }
        // Frames of one type have the same fields, mostly.
        let known = formats[format, default: Names()].looked
        let looked = known[type] ?? (known.count < Self.most.names ? 0 : Self.most.frames)
        guard looked < Self.most.frames, case .object(let fields) = frame.fields else { return }
        formats[format]?.looked[type] = looked + 1
        for field in fields where formats[format]?.fields.count ?? 0 < Self.most.names {
            formats[format]?.fields.insert(String(field.name.prefix(256)))
        }
    }
}

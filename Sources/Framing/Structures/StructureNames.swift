import Streams

/// Follows a path by the names of a structure, so that one that leads to no value is noticed when the format is loaded.
///
/// A name applied to a list is looked up in its elements. Names in JSON, Protobuf and header lines are not known: whatever follows
/// there may exist.
struct StructureNames {
    /// What may be at a place.
    private enum Part {
        /// One value, with nothing inside.
        case value
        /// A list of such values.
        case values
        /// The items of a sequence.
        case object(Int)
        /// The items of a sequence, several times.
        case list(Int)
        /// A body of its own.
        case body(BodyChain)
        /// Names that the format does not determine.
        case anything
    }

    private let structure: Structure
    private let ignoresCase: Bool
    private let root: String?

    /// How many lists of nothing but lists a name is looked up in: types may contain themselves.
    private static let deepest = 4

    /// - Parameters:
    ///   - root: the outermost item that the path starts in; nil for the structure itself.
    ///   - ignoresCase: whether ASCII letters of names may have the other case.
    init(_ structure: Structure, in root: String? = nil, ignoringCase ignoresCase: Bool = false) {
        (self.structure, self.root, self.ignoresCase) = (structure, root, ignoresCase)
    }

    /// The error in a path; nil if it may lead to a value, or the structure has no such item.
    func complaint(about path: [String]) -> String? {
        guard !structure.sequences.isEmpty else { return nil }
        guard let root else {
            if path.first == StructuredHead.raw { return nil }
            return complaint(path[...], .object(0), inside: nil, 0)
        }
        return first(parts(named: root, of: 0).map { complaint(path[...], $0, inside: root, 0) })
    }

    /// The first of several errors, unless there is a way without one.
    private func first(_ complaints: [String?]) -> String? {
        complaints.contains(nil) ? nil : complaints.first ?? nil
    }

    private func complaint(_ path: ArraySlice<String>, _ part: Part, inside name: String?, _ depth: Int) -> String? {
        guard let step = path.first else { return nil }
        let isElement = Self.isElement(step)
        switch part {
        case .anything: return nil
        case .body(let chain): return chain.complaint(about: Array(path), inside: name)
        case .values where isElement: return complaint(path.dropFirst(), .value, inside: name, depth)
        case .value, .values: return "\(name ?? step) is one value, with nothing inside"
        case .list(let sequence):
            guard depth < Self.deepest else { return nil }
            let elements = elements(of: sequence)
            let byName = first(elements.map { complaint(path, $0, inside: name, depth + 1) })
            guard isElement, byName != nil else { return byName }
            // The elements whose member of this name has a value.
            if let sign = step.firstIndex(of: "=") {
                let member = [String(step[..<sign])]
                let unknown = first(elements.map { complaint(member[...], $0, inside: name, depth + 1) })
                if let unknown { return unknown }
            }
            return first(elements.map { complaint(path.dropFirst(), $0, inside: name, depth + 1) })
        case .object(let sequence):
            if step == StructureWalk.rest { return nil }
            let found = parts(named: step, of: sequence)
            guard found.isEmpty else {
                return first(found.map { complaint(path.dropFirst(), $0, inside: step, depth) })
            }
            let place = name.map { " in \($0)" } ?? ""
            return "there is no value \(step)\(place); \(LoadContext.hint(step, structure.names(of: sequence)))"
        }
    }

    /// Whether a component chooses elements of a list: `[0]`, `[tag=9]`.
    static func isElement(_ step: String) -> Bool { Int(step) != nil || step.contains("=") }

    private func elements(of sequence: Int) -> [Part] {
        let own = structure.sequences[sequence]
        guard let only = own.only, let name = own.items[only].names.first else { return [.object(sequence)] }
        return parts(of: own.items[only], named: name)
    }

    private func parts(named name: String, of sequence: Int) -> [Part] {
        structure.items(of: sequence).flatMap { parts(of: $0, named: name) }
    }

    /// What an item shows by a name; nothing if it has another one.
    private func parts(of item: Structure.Item, named name: String) -> [Part] {
        switch item.content {
        case .literal: return []
        case .words(let line):
            return line.words.filter { isSame($0.name, name) }.map { $0.presence == .list ? .values : .value }
        case .field: return item.names.filter { isSame($0, name) }.map { _ in .value }
        default: break
        }
        guard isSame(item.name, name) else { return [] }
        return switch item.content {
        case .literal, .words, .field, .sized, .ended, .computed: [.value]
        case .lines: [.anything]
        case .group(let inner): [.object(inner)]
        case .choice(let choices): choices.map { .object($0) }
        case .repeated(let inner, _): [.list(inner)]
        case .body(let chain): [.body(chain)]
        }
    }

    private func isSame(_ one: String, _ other: String) -> Bool {
        one == other || ignoresCase && one.lowercased() == other.lowercased()
    }
}

extension BodyChain {
    /// The error in a path in these bodies; nil if it may lead to a value.
    ///
    /// - Parameter name: the field whose value the body is; nil if it is a frame's.
    func complaint(about path: [String], inside name: String? = nil) -> String? {
        switch encodings.last {
        case let fields as FieldsBody: StructureNames(fields.structure).complaint(about: path)
        case let format as FormatBody: format.complaint(about: path)
        default: form == nil || form == "text" ? "\(name ?? "the body") is one value, with nothing inside" : nil
        }
    }
}

extension FormatBody {
    /// The error in a path in a list of frames; nil if it may lead to a value.
    fileprivate func complaint(about path: [String]) -> String? {
        guard let format = innerSide else { return nil }
        let path = path.first.map(StructureNames.isElement) == true ? path.dropFirst() : path[...]
        guard let part = path.first else { return nil }
        let inside = Array(path.dropFirst())
        switch part {
        case "type", "layout", Self.unframed: return nil
        case "fields":
            let fields = FrameValues.fields(of: format.layouts, format.rule)
            return FrameValues.complaint(about: Array(path), fields: fields, bodies: nil)
        case "body":
            guard let form = inside.first, form != "hex" else { return nil }
            guard BodyFormat.isForm(form) else {
                let forms = BodyFormat.formNames.sorted() + ["hex"]
                return "there is no value \(form) in the body of a frame inside; \(LoadContext.hint(form, forms))"
            }
            return BodyFormat.complaint(about: inside, in: format.bodies, mayBeAll: true)
        default:
            let known = ["type", "fields", "body", "layout", Self.unframed]
            return "there is no value \(part) in a frame inside; \(LoadContext.hint(part, known))"
        }
    }
}

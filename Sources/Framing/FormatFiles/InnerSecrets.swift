import Streams

/// The secrets of formats whose frames are inside those of another one.
extension FormatLoader {
    /// What is secret of the frames inside those of both sides.
    ///
    /// In bodies, each frame is redacted as its own format says, when it is decoded. What is always secret there is what belongs to
    /// no frame. In a header's field, the values are secret in all frames, since conditions on these cannot be asked from outside.
    static func innerSecrets(_ sides: PerDirection<DirectionFormat>) -> [Secret] {
        var secrets: [Secret] = []
        let directions = Direction.allCases.map { sides[$0] }
        if directions.flatMap(\.bodies).flatMap(\.chains).contains(where: \.hasInnerSecrets) {
            secrets.append(Secret(path: ["body", "json", FormatBody.unframed]))
        }
        for layout in directions.flatMap(\.layouts) {
            guard let structure = (layout.head as? StructuredHead)?.structure else { continue }
            secrets += structure.innerSecrets(in: 0, at: [], depth: 0).map { Secret(path: ["fields"] + $0) }
        }
        return secrets
    }
}

extension Structure {
    /// How deeply groups are searched: types may contain themselves. What is deeper is secret as a whole.
    private static let deepestSecret = 6

    /// The places of the secrets of frames inside a sequence's values.
    ///
    /// - Parameter place: that of the sequence.
    fileprivate func innerSecrets(in sequence: Int, at place: [String], depth: Int) -> [[String]] {
        guard sequences.indices.contains(sequence) else { return [] }
        guard depth < Self.deepestSecret else { return bodies.contains(where: \.hasInnerSecrets) ? [place] : [] }
        let only = sequences[sequence].only
        return sequences[sequence].items.enumerated().flatMap { index, item -> [[String]] in
            // The only item of a list's elements is shown as the element.
            let inside = item.name.isEmpty || index == only ? place : place + [item.name]
            switch item.content {
            case .group(let inner), .repeated(let inner, _):
                return innerSecrets(in: inner, at: inside, depth: depth + 1)
            case .choice(let choices): return choices.flatMap { innerSecrets(in: $0, at: inside, depth: depth + 1) }
            case .body(let chain):
                switch chain.encodings.last {
                case let frames as FormatBody: return frames.secretPlaces.map { inside + $0 }
                case let fields as FieldsBody: return fields.structure.innerSecrets(in: 0, at: inside, depth: depth + 1)
                default: return []
                }
            case .literal, .field, .sized, .ended, .words, .lines, .computed: return []
            }
        }
    }
}

extension FormatBody {
    /// The places of the secrets in the list of frames, and of what belongs to no frame.
    fileprivate var secretPlaces: [[String]] {
        guard hasSecrets else { return [] }
        return [[Self.unframed]]
            + secrets.filter { $0.after == nil }.flatMap { secret -> [[String]] in
                let path = Array(secret.path.dropFirst())
                guard secret.path[0] == "body" else { return [["fields"] + path] }
                let inside = path.first.map(BodyFormat.isForm) == true ? Array(path.dropFirst()) : path
                if inside.isEmpty { return [["body"]] }
                return ["json", "protobuf", "fields"].map { ["body", $0] + inside }
            }
    }
}

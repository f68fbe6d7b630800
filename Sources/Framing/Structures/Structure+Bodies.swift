/// Bodies in the fields of a structure.
extension Structure {
    /// Their encodings.
    var bodies: [BodyChain] {
        sequences.flatMap { sequence in
            sequence.items.compactMap { item in
                if case .body(let chain) = item.content { chain } else { nil }
            }
        }
    }

    /// Sets the user's resources for decoding them: keys and schemas.
    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {
        for sequence in sequences.indices {
            for index in sequences[sequence].items.indices {
                guard case .body(var chain) = sequences[sequence].items[index].content else { continue }
                try chain.use(resources, defaultKey: defaultKey)
                sequences[sequence].items[index].content = .body(chain)
            }
        }
    }
}

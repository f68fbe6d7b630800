/// The least set of elements that still fails: of any that fail, no element can be left out (Zeller and Hildebrandt, "Simplifying and
/// Isolating Failure-Inducing Input", 2002).
///
/// - Parameters:
///   - elements: they fail together.
///   - most: after this many trials what is left is the result.
///   - fails: whether a subset fails; nil if that can no longer be found out: what is left then is the result.
func least<Element>(
    of elements: [Element], most: Int = 200, _ fails: ([Element]) async throws -> Bool?
) async throws -> [Element] {
    var elements = elements
    var parts = 2
    var trials = 0
    search: while elements.count > 1, trials < most {
        let size = (elements.count + parts - 1) / parts
        let chunks = stride(from: 0, to: elements.count, by: size).map { $0..<min($0 + size, elements.count) }
        for chunk in chunks where trials < most {
            trials += 1
            guard let isFailing = try await fails(Array(elements[chunk])) else { return elements }
            if isFailing {
                (elements, parts) = (Array(elements[chunk]), 2)
                continue search
            }
        }
        if chunks.count > 2 {
            for chunk in chunks where trials < most {
                trials += 1
                let rest = Array(elements[..<chunk.lowerBound] + elements[chunk.upperBound...])
                guard let isFailing = try await fails(rest) else { return elements }
                if isFailing {
                    (elements, parts) = (rest, max(2, parts - 1))
                    continue search
                }
            }
        }
        if parts >= elements.count { break }
        parts = min(elements.count, parts * 2)
    }
    return elements
}

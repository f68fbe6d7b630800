/// What was found, one of each kind, each seen to fail by itself.
extension ServerTorture {
    private struct Kind: Hashable {
        var segmentation: String
        var type: String?
        var field: String
    }

    /// At most how many of a kind are tried until one fails by itself.
    private static var mostTrials: Int { 20 }

    /// Reports one of each kind; interrupted, it reports the rest as it was found.
    mutating func confirm() async throws {
        // In the order of the conversation: cuts first, then frames together.
        found.sort { one, two in
            switch (one.variation.cuts.min(), two.variation.cuts.min()) {
            case (let one?, let two?): one < two
            case (let one, let two): one != nil && two == nil
            }
        }
        var kinds: [Kind] = []
        var members: [Kind: [Int]] = [:]
        for (place, entry) in found.enumerated() {
            let kind = Kind(segmentation: entry.broken.segmentation, type: entry.broken.type, field: entry.broken.field)
            if members[kind] == nil { kinds.append(kind) }
            members[kind, default: []].append(place)
        }
        for kind in kinds {
            let places = members[kind] ?? []
            var confirmed: TortureReport.Break?
            for place in places.prefix(Self.mostTrials) where confirmed == nil {
                var broken = found[place].broken
                if !isDead {
                    do {
                        guard let symptom = try await alone(found[place].variation).symptom else { continue }
                        broken.symptom = symptom
                    } catch is CancellationError {
                        interrupt("interrupted: not all of what was found is repeated")
                    }
                }
                broken.count = places.count
                confirmed = broken
            }
            if let confirmed {
                report.least.append(confirmed)
            } else {
                let first = found[places[0]].broken
                if let section = report.sections.firstIndex(where: { $0.holds(first) }) {
                    report.sections[section].failed -= places.count
                }
                report.notes.append(
                    "\(places.count) of \(kind.segmentation) failed once and not when repeated, the first where \(found[places[0]].broken.text): \(found[places[0]].broken.symptom)"
                )
            }
        }
    }
}

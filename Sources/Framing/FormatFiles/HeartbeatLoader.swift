import Streams

/// Reads a format's `heartbeat` section.
enum HeartbeatLoader {
    /// The contract of a `heartbeat` section; nil, with faults, if it is incomplete.
    ///
    /// - Parameter base: the defaults for what the section omits.
    static func contract(_ map: YAMLMap, over base: HeartbeatContract? = nil) -> HeartbeatContract? {
        let map = map.reading(section)
        if base == nil {
            for key in ["from", "every"] where map[key] == nil { map.fault("\(map.path) lacks \(key)") }
        }
        let from = FormatLoader.side(map, "from") ?? base?.from
        let every = map.interval("every") ?? base?.every
        let gap = map.interval("gap")
        let late = map.interval("late")
        let first = map.interval("first")
        let condition =
            base == nil || map["when"] != nil ? FormatLoader.condition(map, "when") : base?.condition
        let eviction = map.map("eviction").flatMap { Self.eviction($0, over: base?.eviction) } ?? base?.eviction
        let answer = map.map("answer").flatMap { Self.answer($0, over: base?.answer) } ?? base?.answer
        guard let condition, let from, let every else { return nil }
        // An overridden interval leaves longer ones unchanged; the rest are derived from it.
        let keptGap = map["every"] == nil || (base?.gap ?? every) > every ? base?.gap : nil
        let newGap = gap ?? keptGap ?? Interval(nanoseconds: 3 * every.nanoseconds)
        if newGap < every {
            map.fault("\(map.path).gap is shorter than every", at: map["gap"] == nil ? "every" : "gap")
        }
        if let late, late < every || late > newGap {
            map.fault("\(map.path).late is not between every and gap", at: "late")
        }
        let isChanged = map["every"] != nil || map["gap"] != nil
        var contract = HeartbeatContract(
            condition: condition, from: from, every: every, gap: newGap,
            late: late ?? (isChanged ? nil : base?.late), first: first ?? (isChanged ? nil : base?.first),
            eviction: eviction, answer: answer)
        contract.counts = map.choice("counts", HeartbeatContract.Eviction.Refresh.self) ?? base?.counts ?? .heartbeats
        contract.announced = map.map("announced").flatMap(announced) ?? base?.announced
        return contract
    }

    /// `announced: { when: type == "CONNECT", value: body.keepAlive, unit: 1 s, gap: 1.5 }`
    private static func announced(_ map: YAMLMap) -> HeartbeatContract.Announcement? {
        let map = map.reading(announcedKeys)
        let condition = FormatLoader.condition(map, "when")
        guard let text = map.requiredText("value") else { return nil }
        let field = text.hasPrefix("fields.") ? String(text.dropFirst(7)) : text
        let place = text.hasPrefix("body.") ? ValuePlace(body: text) : ValuePlace(field: field)
        guard let place else {
            map.fault(
                "\(map.path).value is \(text); expected fields.NAME or a value of the body such as body.interval",
                at: "value")
            return nil
        }
        if let complaint = FrameValues.complaint(
            about: place.path, fields: map.context.fields, bodies: map.context.bodies)
        {
            map.fault("\(map.path).value is \(text), but \(complaint)", at: "value")
            return nil
        }
        var factor = 2.0
        if let text = map.text("gap") {
            factor = Double(text) ?? 0
            if factor < 1 {
                map.fault("\(map.path).gap is \(text); expected how many intervals, such as 1.5", at: "gap")
            }
        }
        guard let condition, factor >= 1 else { return nil }
        return HeartbeatContract.Announcement(
            condition: condition, place: place, unit: map.interval("unit") ?? .seconds(1), factor: factor)
    }

    private static func answer(_ map: YAMLMap, over base: HeartbeatContract.Answer?) -> HeartbeatContract.Answer? {
        let map = map.reading(answerKeys)
        if base == nil, map["within"] == nil { map.fault("\(map.path) lacks within") }
        let condition =
            base == nil || map["when"] != nil ? FormatLoader.condition(map, "when") : base?.condition
        guard let condition, let within = map.interval("within") ?? base?.within else { return nil }
        return HeartbeatContract.Answer(condition: condition, within: within)
    }

    private static func eviction(
        _ map: YAMLMap, over base: HeartbeatContract.Eviction?
    ) -> HeartbeatContract.Eviction? {
        let map = map.reading(evictionKeys)
        if base == nil, map["after"] == nil { map.fault("\(map.path) lacks after") }
        guard let after = map.interval("after") ?? base?.after else { return nil }
        return HeartbeatContract.Eviction(
            after: after, sweep: map.interval("sweep") ?? base?.sweep ?? Interval(nanoseconds: 0),
            refreshedBy: map.choice("refreshedBy", HeartbeatContract.Eviction.Refresh.self) ?? base?.refreshedBy
                ?? .frames,
            deed: map.choice("does", HeartbeatContract.Eviction.Deed.self) ?? base?.deed ?? .close)
    }
}

extension Format {
    /// The format with parts of its heartbeat contract overridden.
    ///
    /// - Parameters:
    ///   - text: `key: value, …` as in a format file's `heartbeat`; keys not in it keep their values.
    ///   - place: its name in error messages.
    /// - Returns: nil if the format has no contract, and the text is not a complete one.
    package func overridingHeartbeat(_ text: String, place: String) throws(FormatFileError) -> Format? {
        let context = LoadContext()
        guard
            let map = FormatYAML.compose("{\(text)}", context: context).flatMap({
                YAMLMap($0, path: "heartbeat", context: context)
            })
        else { throw FormatFileError(file: place, faults: context.faults) }
        if heartbeat == nil, ["when", "from", "every"].contains(where: { map[$0] == nil }) { return nil }
        let contract = HeartbeatLoader.contract(map, over: heartbeat)
        guard let contract, context.faults.isEmpty else {
            throw FormatFileError(file: place, faults: context.faults)
        }
        var format = self
        format.heartbeat = contract
        return format
    }
}

import Streams

/// Reads the places of values that a format refers to.
extension FormatLoader {
    /// A field of a header, or a value of the body.
    static func place(
        _ map: YAMLMap?, _ key: String, _ layouts: [FrameLayout], _ bodies: [BodyFormat]
    ) -> ValuePlace? {
        guard let map, let text = map.text(key) else { return nil }
        guard text.hasPrefix("body.") else {
            if case .inField(let path)? = ValuePlace(field: text) {
                if let hint = unknownField(path[0], layouts) {
                    map.fault("there is no field \(path[0]) in the header; \(hint)", at: key)
                }
                return .inField(path)
            }
            return field(map, key, layouts).map { .field($0) }
        }
        return bodyPlace(text, in: map, key, bodies)
    }

    /// A value of the body, by a text that begins with `body.`
    ///
    /// - Parameter bodies: those of the frames' kinds; it need not be in all of them.
    static func bodyPlace(_ text: String, in map: YAMLMap, _ key: String, _ bodies: [BodyFormat]) -> ValuePlace? {
        guard let place = ValuePlace(body: text), case .body(let path) = place else {
            map.fault("\(map.path).\(key) is \(text); expected a path such as body.user or body.json.items[0]", at: key)
            return nil
        }
        if let complaint = BodyFormat.complaint(about: path, in: bodies) {
            map.fault("\(map.path).\(key) is \(text), but \(complaint)", at: key)
            return nil
        }
        return place
    }

    /// `fields.NAME` or a value of the body that frames of both sides have.
    ///
    /// - Parameter others: what else the key may have as its value, for error messages.
    static func sharedPlace(
        _ text: String, in map: YAMLMap, _ key: String, _ sides: PerDirection<DirectionFormat>?, others: String = ""
    ) -> ValuePlace? {
        if text.hasPrefix("fields."), text.utf8.count > 7 {
            let place = ValuePlace(field: String(text.dropFirst(7)))
            let name = String(text.dropFirst(7).prefix { $0 != "." && $0 != "[" })
            for direction in Direction.allCases {
                guard let hint = sides.flatMap({ unknownField(name, $0[direction].layouts) }) else { continue }
                map.fault(
                    "\(map.path).\(key) is \(text), but the \(direction.sender)'s header has no field \(name); \(hint)",
                    at: key)
                return nil
            }
            return place
        }
        if text.hasPrefix("body.") {
            let places = Direction.allCases.map { side in
                sides.map { bodyPlace(text, in: map, key, $0[side].bodies) } ?? ValuePlace(body: text)
            }
            return places.contains(nil) ? nil : places[0]
        }
        let expected = (others.isEmpty ? "" : "\(others) ") + "fields.NAME or a value of the body such as body.id"
        map.fault("\(map.path).\(key) is \(text); expected \(expected)", at: key)
        return nil
    }
}

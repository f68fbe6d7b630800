/// `GET findings`: the groups, or the findings of one kind.
enum FindingsQuery {
    static func answer(_ query: QueryParameters, _ page: Page) throws(PageFault) -> [UInt8] {
        if let kind = query["kind"] {
            var key = SearchKey()
            (key.kinds, key.finding, key.legs) = ([.finding], kind, .both)
            key.connection = try query.number("connection")
            return try FramesQuery.answer(query, page, kinds: key)
        }
        let groups = page.store.read { $0.groups.groups }
        let sorted = groups.enumerated().sorted { left, right in
            (FindingGroups.rank(left.element.severity), left.offset)
                < (FindingGroups.rank(right.element.severity), right.offset)
        }
        return JSONText.object { json in
            json.key("groups")
            json.array { json in
                for (_, group) in sorted {
                    json.object { json in
                        json.member("kind", group.kind)
                        json.member("severity", group.severity)
                        json.member("count", group.count)
                        json.member("first", group.first)
                        json.member("firstTime", time: group.firstTime)
                        json.member("lastTime", time: group.lastTime)
                        json.member("example", group.example)
                        json.key("connections")
                        json.array { json in for number in group.connections { json.number(number) } }
                    }
                }
            }
        }
    }
}

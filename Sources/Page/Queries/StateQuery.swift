import Streams

/// `GET state`, and the news.
enum StateQuery {
    /// - Parameter actions: what the page may do; nil: nothing.
    static func answer(_ page: Page, _ actions: PageActions?) -> [UInt8] {
        let state = page.store.read { state in
            (
                state.source, state.tool, (state.earliest, state.latest), state.seen.formats, state.names
            )
        }
        let switches = actions?.switches() ?? 0
        let news = page.store.read { News($0, switches: switches) }
        return JSONText.object { json in
            json.member("source", state.0)
            json.member("tool", state.1)
            json.member("run", page.run)
            json.member("live", page.isLive)
            news.write(to: &json)
            json.member("earliest", time: state.2.0)
            json.key("formats")
            json.object { json in
                for (name, seen) in state.3.sorted(by: { $0.key < $1.key }) {
                    json.key(name)
                    json.object { json in
                        write(seen, state.4, to: &json)
                    }
                }
            }
            json.member("actions", actions != nil)
            json.member("token", nil)
        }
    }

    private static func write(_ seen: SeenNames.Names, _ names: [String], to json: inout JSONText) {
        json.key("types")
        json.object { json in
            for (side, types) in [("client", seen.types.fromClient), ("server", seen.types.fromServer)] {
                json.key(side)
                json.array { json in
                    for type in types.map({ names[Int($0)] }).sorted() { json.text(type) }
                }
            }
        }
        json.key("fields")
        json.array { json in for field in seen.fields.sorted() { json.text(field) } }
    }
}

/// What has changed, for pages that are open.
struct News: Hashable, Sendable {
    var events: Int
    var frames: Int
    var connections: Int
    var findings: Int
    var latest: Int64?
    var missed: Int
    var isFinished: Bool
    var held: Int
    var complaints: [String]
    /// How often breakpoints or rules have changed.
    var switches: Int

    init(_ state: borrowing StoreState, switches: Int) {
        (events, frames, connections) = (state.events, state.frames, max(state.opened, state.connections.count))
        (findings, latest, missed) = (state.findings, state.latest, state.missed)
        (isFinished, held, complaints) = (state.isFinished, state.held.frames.count, state.complaints)
        self.switches = switches
    }

    func write(to json: inout JSONText) {
        json.member("events", events)
        json.member("frames", frames)
        json.member("connections", connections)
        json.member("findings", findings)
        json.member("latest", time: latest)
        json.member("missed", missed)
        json.member("finished", isFinished)
        json.member("held", held)
        json.key("complaints")
        json.array { json in for complaint in complaints { json.text(complaint) } }
        json.member("switches", switches)
    }
}

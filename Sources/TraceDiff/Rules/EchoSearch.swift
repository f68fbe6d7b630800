import Framing
import Streams
import Trace

/// Finds values that one side repeats after the other has sent them.
struct EchoSearch {
    /// Where each value has occurred so far on a connection.
    private typealias Said = [JSONValue: Set<TraceRules.Place>]

    private let places: Set<TraceRules.Place>
    /// For each place, those of the other side that had sent each of its values before.
    private var sources: [TraceRules.Place: Set<TraceRules.Place>] = [:]

    /// The bindings: an echo must be one in every frame of every run.
    ///
    /// - Parameter places: where values differ from run to run.
    static func bindings(in runs: [RecordedTrace], among places: Set<TraceRules.Place>) -> [TraceRules.Binding] {
        var search = EchoSearch(places: places)
        for run in runs {
            for connection in run.connections { search.read(connection) }
        }
        return search.bindings()
    }

    private init(places: Set<TraceRules.Place>) {
        self.places = places
    }

    private mutating func read(_ connection: RecordedConnection) {
        var said: Said = [:]
        for frame in connection.frames {
            let values = frame.values().flatMap { path, value in
                places.filter { $0.covers(frame.from, frame.type, path) }.map { (place: $0, value: value) }
            }
            for (place, value) in values {
                let before = (said[value] ?? []).filter { $0.from != frame.from }
                sources[place] = sources[place]?.intersection(before) ?? before
            }
            for (place, value) in values { said[value, default: []].insert(place) }
        }
    }

    private func bindings() -> [TraceRules.Binding] {
        var parents: [TraceRules.Place: TraceRules.Place] = [:]
        for (place, sources) in sources { parents[place] = sources.min { "\($0)" < "\($1)" } }
        func root(of place: TraceRules.Place) -> TraceRules.Place {
            var (place, steps) = (place, 0)
            while let parent = parents[place], steps < parents.count {
                (place, steps) = (parent, steps + 1)
            }
            return place
        }
        var groups: [TraceRules.Place: [TraceRules.Place]] = [:]
        for place in parents.keys { groups[root(of: place), default: []].append(place) }
        var names: [String: Int] = [:]
        return groups.sorted { "\($0.key)" < "\($1.key)" }.map { source, echoes in
            var name = "value"
            if case .member(let last)? = source.path.steps.last { name = last }
            names[name, default: 0] += 1
            if let count = names[name], count > 1 { name += "-\(count)" }
            let others = echoes.filter { $0 != source }.sorted { "\($0)" < "\($1)" }
            return TraceRules.Binding(name: name, places: [source] + others)
        }
    }
}

extension FrameEvent {
    /// Every leaf value of the head and the body.
    package var leafValues: [(path: FieldPath, value: JSONValue)] {
        values().map { (FieldPath($0.path), $0.value) }
    }

    /// Every leaf value of the head and the body, with its path.
    func values() -> [(path: [FieldPath.Step], value: JSONValue)] {
        var values: [(path: [FieldPath.Step], value: JSONValue)] = []
        var waiting: [(path: [FieldPath.Step], value: JSONValue)] = [
            ([.member("body")], body), ([.member("fields")], fields),
        ]
        while let (path, value) = waiting.popLast() {
            switch value {
            case .object(let members):
                for member in members.reversed() { waiting.append((path + [.member(member.name)], member.value)) }
            case .array(let elements):
                for (index, element) in elements.enumerated().reversed() {
                    waiting.append((path + [.element(index)], element))
                }
            default: values.append((path, value.normalized))
            }
        }
        return values
    }
}

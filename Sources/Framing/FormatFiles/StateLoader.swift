import Expressions
import Streams
import YAML

/// Reads `states` and `transitions`.
enum StateLoader {
    /// Adds the states, and what leads from one to another, to a format whose frames have been read.
    static func read(_ top: YAMLMap, into format: inout Format) {
        guard let states = top.map("states") else {
            if top["transitions"] != nil { top.fault("transitions need states", at: "transitions") }
            return
        }
        var names = (states.node.mapping ?? [:]).compactMap(\.key.string)
        if !names.contains("opaque") { names.append("opaque") }
        var transitions: [Transition] = []
        for map in top.maps("transitions") ?? [] {
            let map = map.reading(transition)
            let from = map.texts("in").compactMap { text, node in index(of: text, names, at: node, map) }
            let condition = FormatLoader.condition(map, "when", namesFields: true, hasRequest: true)
            guard let condition, let target = map.requiredText("to") else { continue }
            if target == "tls" {
                if format.upgrade != nil { map.fault("only one frame can lead to TLS", at: "to") }
                format.upgrade = TLSUpgrade(after: condition, answered: nil)
                continue
            }
            guard let to = index(of: target, names + ["tls"], at: map["to"] ?? map.node, map) else { continue }
            transitions.append(
                Transition(from: Set(from), condition: condition, to: to, side: FormatLoader.side(map, "side")))
        }
        warnOfUnreached(states, transitions, names)
        format.states = ConversationStates(names: names, transitions: transitions, layers: layers(states, transitions))
    }

    /// Warns of states that no transition leads to, other than the first one.
    private static func warnOfUnreached(_ states: YAMLMap, _ transitions: [Transition], _ names: [String]) {
        let reached = Set(transitions.map(\.to))
        for (index, pair) in (states.node.mapping ?? [:]).enumerated().dropFirst() where !reached.contains(index) {
            guard let name = pair.key.string, name != "opaque", names.indices.contains(index) else { continue }
            states.context.warn("no transition leads to the state \(name): conversations are never in it", at: pair.key)
        }
    }

    /// How each state's streams are encoded: `through` of the state, or of a side in it.
    private static func layers(_ states: YAMLMap, _ transitions: [Transition]) -> [PerDirection<[any StreamEncoding]>] {
        let layers = (states.node.mapping ?? [:]).map { key, value -> PerDirection<[any StreamEncoding]> in
            let path = "states.\(key.string ?? "?")"
            guard let state = YAMLMap(value, path: path, context: states.context)?.reading(LayoutLoader.stateKeys)
            else {
                return PerDirection(fromClient: [], fromServer: [])
            }
            func side(_ name: String) -> [any StreamEncoding] {
                if let own = state.map(name, LayoutLoader.stateSideKeys), own["through"] != nil {
                    return StreamEncodings.read(own, "through")
                }
                return StreamEncodings.read(state, "through")
            }
            return PerDirection(fromClient: side("client"), fromServer: side("server"))
        }
        if layers.allSatisfy({ $0.fromClient.isEmpty && $0.fromServer.isEmpty }) { return [] }
        return layers
    }

    private static func index(of name: String, _ names: [String], at node: Node, _ map: YAMLMap) -> Int? {
        if let index = names.firstIndex(of: name) { return index }
        map.context.add("there is no state \(name); \(LoadContext.hint(name, names))", at: node)
        return nil
    }
}

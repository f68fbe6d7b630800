import Expressions
import Streams

/// Reads which frames of a format are passed on to other clients.
enum RelayLoader {
    static func relay(_ top: YAMLMap) -> Relay? {
        guard let map = top.map("relay"), let parts = parts(map, "sent", "received") else { return nil }
        return Relay(sent: parts.first, received: parts.second, within: parts.within)
    }

    static func broadcast(_ top: YAMLMap) -> Broadcast? {
        guard let map = top.map("broadcast"), let parts = parts(map, "sent", "receipt", "echo") else { return nil }
        return Broadcast(
            sent: parts.first, receipt: parts.second, within: parts.within, isEchoed: map.boolean("echo") ?? false)
    }

    static func beginning(_ top: YAMLMap) -> Beginning? {
        guard let map = top.map("begins") else { return nil }
        map.allow(["when", "from"])
        guard let condition = FormatLoader.condition(map, "when"), let from = FormatLoader.side(map, "from") else {
            return nil
        }
        return Beginning(condition: condition, from: from)
    }

    private static func parts(
        _ map: YAMLMap, _ first: String, _ second: String, _ others: String...
    ) -> (first: Expression, second: Expression, within: Interval)? {
        map.allow([first, second, "within"] + others)
        let one = FormatLoader.condition(map, first)
        let other = FormatLoader.condition(map, second)
        let within = map.interval("within") ?? .seconds(5)
        guard let one, let other else { return nil }
        return (one, other, within)
    }
}

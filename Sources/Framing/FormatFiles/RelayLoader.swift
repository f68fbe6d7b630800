import Expressions
import Streams

/// Reads which frames of a format are relayed to other clients.
enum RelayLoader {
    static func relay(_ top: YAMLMap, _ sides: PerDirection<DirectionFormat>?) -> Relay? {
        guard let map = top.map("relay"), let parts = parts(map, "sent", "received", others: ["id"]) else { return nil }
        if let sides { check(map, sides) }
        let id = map.text("id").flatMap { FormatLoader.sharedPlace($0, in: map, "id", sides) }
        return Relay(sent: parts.first, received: parts.second, within: parts.within, id: id)
    }

    /// Without receivers no message can be tracked.
    private static func check(_ map: YAMLMap, _ sides: PerDirection<DirectionFormat>) {
        if sides.fromClient.toPlace == nil {
            map.fault(
                "relay needs to know who a message is for: the client's frame lacks to, such as frame: { to: body.to }")
        }
        if sides.fromClient.fromPlace == nil, sides.fromServer.toPlace == nil {
            map.fault(
                "relay needs to know whose connection is whose: the client's frame lacks from (or the server's to), "
                    + "such as frame: { from: body.user }")
        }
    }

    static func broadcast(_ top: YAMLMap) -> Broadcast? {
        guard let map = top.map("broadcast"), let parts = parts(map, "sent", "receipt", others: ["echo"]) else {
            return nil
        }
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

    static func upgrade(_ top: YAMLMap) -> TLSUpgrade? {
        guard let map = top.map("tls") else { return nil }
        map.allow(["after", "answered"])
        guard let after = FormatLoader.condition(map, "after", namesFields: true) else { return nil }
        guard map["answered"] != nil else { return TLSUpgrade(after: after, answered: nil) }
        return FormatLoader.condition(map, "answered", namesFields: true).map { TLSUpgrade(after: after, answered: $0) }
    }

    private static func parts(
        _ map: YAMLMap, _ first: String, _ second: String, others: [String] = []
    ) -> (first: Expression, second: Expression, within: Interval)? {
        map.allow([first, second, "within"] + others)
        let one = FormatLoader.condition(map, first)
        let other = FormatLoader.condition(map, second)
        let within = map.interval("within") ?? .seconds(5)
        guard let one, let other else { return nil }
        return (one, other, within)
    }
}

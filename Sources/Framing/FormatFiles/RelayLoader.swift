import Expressions
import Streams

/// Reads which frames of a format are relayed to other clients.
enum RelayLoader {
    private static func within(_ meaning: String) -> FormatKey {
        FormatKey("within", .interval, meaning, default: "5 s")
    }

    static let relayKeys = KeySection(
        "relay", "which frames of a client the server passes on to another one",
        [
            FormatKey("sent", .condition, "which frames of a client are to be passed on", required: true),
            FormatKey("received", .condition, "which frames of the server pass them on", required: true),
            within("the time limit for delivery"),
            FormatKey(
                "id", .matching("^((fields|body)\\..+|\\$.+)$", "`fields.NAME` or `body.…`"),
                """
                the value that identifies a message on both sides, such as `body.id`; by default, the body identifies \
                the message
                """),
        ])

    static let broadcastKeys = KeySection(
        "broadcast", "which frames the server sends to all of its clients",
        [
            FormatKey("sent", .condition, "which frames of the server are broadcasts", required: true),
            FormatKey("receipt", .condition, "which frames of a client confirm one", required: true),
            within("the time limit for receipts"),
            FormatKey(
                "echo", .boolean, "`true`: a receipt repeats the body of the broadcast that it confirms",
                default: "false"),
        ])

    static let beginningKeys = KeySection(
        "begins", "which frame begins a conversation of this system",
        [
            FormatKey("when", .condition, "which frame it is", required: true),
            FormatKey("from", .side, "who sends it", required: true),
        ])

    static let upgradeKeys = KeySection(
        "tls", "where a conversation changes to TLS",
        [
            FormatKey("after", .condition, "the frame that requests TLS; TLS begins after it", required: true),
            FormatKey(
                "answered", .condition,
                "the other side's next frame if it agrees; any other frame is a refusal. Without this key, nobody needs to agree"
            ),
        ])

    static func relay(_ top: YAMLMap, _ sides: PerDirection<DirectionFormat>?) -> Relay? {
        guard let map = top.map("relay", relayKeys), let parts = parts(map, "sent", "received") else { return nil }
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
        guard let map = top.map("broadcast", broadcastKeys), let parts = parts(map, "sent", "receipt") else {
            return nil
        }
        return Broadcast(
            sent: parts.first, receipt: parts.second, within: parts.within, isEchoed: map.boolean("echo") ?? false)
    }

    static func beginning(_ top: YAMLMap) -> Beginning? {
        guard let map = top.map("begins", beginningKeys) else { return nil }
        if map["from"] == nil { map.fault("\(map.path) lacks from") }
        guard let condition = FormatLoader.condition(map, "when"), let from = FormatLoader.side(map, "from") else {
            return nil
        }
        return Beginning(condition: condition, from: from)
    }

    static func upgrade(_ top: YAMLMap) -> TLSUpgrade? {
        guard let map = top.map("tls", upgradeKeys) else { return nil }
        guard let after = FormatLoader.condition(map, "after", namesFields: true) else { return nil }
        guard map["answered"] != nil else { return TLSUpgrade(after: after, answered: nil) }
        return FormatLoader.condition(map, "answered", namesFields: true).map { TLSUpgrade(after: after, answered: $0) }
    }

    private static func parts(
        _ map: YAMLMap, _ first: String, _ second: String
    ) -> (first: Expression, second: Expression, within: Interval)? {
        let one = FormatLoader.condition(map, first)
        let other = FormatLoader.condition(map, second)
        let within = map.interval("within") ?? .seconds(5)
        guard let one, let other else { return nil }
        return (one, other, within)
    }
}

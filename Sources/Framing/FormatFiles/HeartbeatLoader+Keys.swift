/// The keys of a `heartbeat` section.
extension HeartbeatLoader {
    static let section = KeySection(
        "heartbeat", "which frames are heartbeats, and how often one must arrive",
        [
            FormatKey(
                "when", .condition, "which frames are heartbeats; they cannot refer to `heartbeat`", required: true),
            FormatKey("from", .side, "who sends them", required: true),
            FormatKey("every", .interval, "how often one is sent", required: true),
            FormatKey("gap", .interval, "the time without one that counts as a gap; by default, three times `every`"),
            FormatKey(
                "late", .interval,
                "the time after which the next one is late; by default, halfway between `every` and `gap`"
            ),
            FormatKey(
                "first", .interval, "the time after opening by which the first one must have arrived; by default, `gap`"
            ),
            FormatKey(
                "counts", .words(of: HeartbeatContract.Eviction.Refresh.self),
                "what counts: `heartbeats`, or any `frames` of their sender", default: "heartbeats"),
            FormatKey("announced", .section(announcedKeys), "the frame that says how often heartbeats come"),
            FormatKey("answer", .section(answerKeys), "what the other side answers, and by when"),
            FormatKey("eviction", .section(evictionKeys), "what the other side does to silent clients"),
        ])

    static let announcedKeys = KeySection(
        "heartbeat.announced", "the frame that says how often heartbeats come",
        [
            FormatKey("when", .condition, "which frame it is, of either side", required: true),
            FormatKey(
                "value", .text("`fields.NAME` or `body.…`"),
                "where the number is: a field, or a value in the body; 0 stands for no heartbeats", required: true),
            FormatKey("unit", .interval, "what the number counts", default: "1 s"),
            FormatKey(
                "gap", .number(least: 1), "how many such intervals without a heartbeat are a gap, such as 1.5",
                default: "2"
            ),
        ])

    static let answerKeys = KeySection(
        "heartbeat.answer", "what answers a heartbeat",
        [
            FormatKey("when", .condition, "which frames of the other side are answers", required: true),
            FormatKey("within", .interval, "by when one must arrive", required: true),
        ])

    static let evictionKeys = KeySection(
        "heartbeat.eviction", "what the other side does to silent clients",
        [
            FormatKey("after", .interval, "the silence that it tolerates", required: true),
            FormatKey(
                "sweep", .interval,
                "how often it checks. With 20 s `after` and a `sweep` of 30 s it acts between 20 and 50 s; by default, at once"
            ),
            FormatKey(
                "refreshedBy", .words(of: HeartbeatContract.Eviction.Refresh.self),
                "what ends a silence: any `frames`, or only `heartbeats`", default: "frames"),
            FormatKey(
                "does", .words(of: HeartbeatContract.Eviction.Deed.self),
                "what it does: `close` the connection, or `forget` the client and leave the connection open",
                default: "close"),
        ])
}

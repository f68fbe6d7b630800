/// The keys of an item of `transitions`.
extension StateLoader {
    static let transition = KeySection(
        "transitions", "which frame leads from one state to another",
        [
            FormatKey(
                "when", .condition,
                """
                a [condition](#conditions) on the frame of either side after which the state is another one; \
                a field's name needs no `fields.` in front, and `request.NAME` is a field of the request that a server's frame answers
                """, required: true),
            FormatKey("to", .text("a state"), "the state that follows, `opaque` or `tls`", required: true),
            FormatKey(
                "in", .oneOrMore(.text("a state")),
                "the state, or a list of states, of the frame's sender in which that happens; any by default"),
            FormatKey("side", .side, "only this side's frames are other ones; both sides' by default"),
        ])
}

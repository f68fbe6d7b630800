import YAML

/// The keys of the sections that describe frames: a kind, a state, a side, and the file itself.
extension LayoutLoader {
    /// The keys that all of them have.
    static let keys: [FormatKey] = [
        FormatKey(
            "byteOrder", .words(["big", "little", "auto"]),
            "the byte order of numbers, `big` if nothing else is said; `auto` lets the header's constants decide"),
        FormatKey(
            "header", .shared(StructureKeys.items),
            "[the fields](#header-and-trailer-the-fields) before the body, in order; `[]` for none where there are some around it"
        ),
        FormatKey("trailer", .shared(HeaderLoader.list), "the fields after the body, of fixed size"),
        FormatKey(
            "framing", .shared(FramingRules.value), "[how to find the end of a frame](#framing-where-a-frame-ends)"),
        FormatKey(
            "oneOf", .list(.section(kindKeys), least: 1),
            "[several kinds](#several-kinds-of-frames): each frame is of the first kind whose header matches"),
        FormatKey(
            "alternatives", .list(.section(kindKeys), least: 1),
            "[several layouts](#several-kinds-of-frames), of which one applies to the whole stream"),
        FormatKey(
            "first", .section(firstKeys),
            "[the first frame](#several-kinds-of-frames) of the stream, if it differs from the rest"),
    ]

    private static let name: FormatKey = FormatKey(
        "name", .text(), "what its frames are called if nothing else sets their type")
    private static let body: FormatKey = FormatKey("body", .shared(BodyFormat.value), "how the body is encoded")

    static let kindKeys: KeySection = KeySection(
        "kind",
        """
        one kind of frame, in `oneOf`, `alternatives`; it takes keys that it omits from \
        the enclosing level
        """, [name] + keys + [body])

    static let firstKeys: KeySection = KeySection(
        "first", "the first frame of the stream, a kind",
        [
            name
        ] + keys + [
            body, FormatKey("again", .section(againKeys), "after which first frames another such frame follows"),
        ])

    static let againKeys: KeySection = KeySection(
        "first.again", "after which first frames another such frame follows",
        [
            FormatKey("field", .text("a field"), "a field of the first frame", required: true),
            FormatKey("in", .oneOrMore(.scalar), "the values of the field, or their names", required: true),
        ])

    static let stateKeys: KeySection = KeySection(
        "states", "the frames of a state; it takes keys that it omits from the sides and from the top level",
        keys + [body, through] + sides(stateSideKeys))

    static let stateSideKeys: KeySection = KeySection(
        "states.side", "the frames of one side in a state, a kind", [name] + keys + [body, through])

    private static let through: FormatKey = FormatKey(
        "through", .shared(StreamEncodings.value),
        "[how the state's streams are compressed or encrypted](#compressed-and-encrypted-streams), the outermost encoding first"
    )

    /// What both the file and each of its sides have.
    static let frames: [FormatKey] =
        keys + [
            FormatKey(
                "frame", .section(FormatLoader.frameKeys),
                "[a frame's type, sender and receiver](#frame-what-a-frame-is-called)"),
            FormatKey(
                "body", .shared(BodyFormat.value),
                "[how the body is encoded](#body-how-it-is-encoded), `hex` if nothing else is said"),
        ]

    static let sideKeys: KeySection = KeySection(
        "client", "the frames of one side (`client`, `server`), if the sides differ", [name] + frames)

    static func sides(_ section: @autoclosure @escaping @Sendable () -> KeySection) -> [FormatKey] {
        ["client", "server"].map {
            FormatKey($0, .nested(section), "the frames of the \($0)'s side, if the sides differ")
        }
    }
}

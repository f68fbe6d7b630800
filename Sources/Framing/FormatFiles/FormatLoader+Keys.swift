/// The keys of the file itself, of a format inside another one, and of `frame`.
extension FormatLoader {
    /// What names of parameters match.
    static let parameterNames = "^[A-Za-z][A-Za-z0-9]*$"

    static let section: KeySection = KeySection(
        "format", "a format file",
        needs: [
            .any([["framing"], ["extends"], ["oneOf"], ["alternatives"], ["client", "server"], ["states"]])
        ],
        [
            FormatKey(
                "format", .matching("^[a-z0-9-]+$", "a name"), "the format's name: lower-case letters, digits and `-`",
                required: true),
            FormatKey("summary", .text(), "a one-line description of the format"),
            FormatKey("extends", .text("a format"), "[the format](#extends) that this one is a variant of"),
            FormatKey(
                "ports", .oneOrMore(.integer(1...65_535)),
                "the servers' usual ports. They help to tell which end is the client, and select the format if the bytes alone do not"
            ),
            FormatKey(
                "parameters", .mapping(.scalar, names: parameterNames),
                "[values](#parameters) that the command line may replace, with their defaults"),
        ] + LayoutLoader.frames + [
            FormatKey(
                "names", .mapping(.mapping(.scalar)),
                "lists of [names](#header-and-trailer-the-fields) that several fields share"),
            FormatKey(
                "types", .mapping(.shared(StructureKeys.type)),
                "[lists of fields](#types) that several structures share"),
            FormatKey(
                "formats", .mapping(.section(innerKeys)), "[formats of what is inside bodies](#another-protocol-inside)"
            ),
        ] + LayoutLoader.sides(LayoutLoader.sideKeys) + [
            FormatKey(
                "states", .mapping(.section(LayoutLoader.stateKeys), least: 1),
                "[the frames of each state](#states-and-transitions) of a conversation; conversations begin in the first one"
            ),
            FormatKey(
                "transitions", .list(.section(StateLoader.transition)), "what leads from one state to another"),
            FormatKey(
                "detect", .section(DetectionLoader.section),
                """
                [how the format is recognized](#detect-how-a-format-is-recognized) by its bytes; without it, you have to request the \
                format, or it is chosen by its port
                """),
            FormatKey(
                "heartbeat", .section(HeartbeatLoader.section),
                "[which frames are heartbeats](#heartbeat), and how often one must arrive"),
            FormatKey(
                "pairs", .list(.section(PairingLoader.section)),
                "[which frames are requests](#pairs), and which are their answers"),
            FormatKey(
                "sequence", .section(SequenceLoader.section), "[the number in the frames](#sequence) that goes on"),
            FormatKey(
                "begins", .section(RelayLoader.beginningKeys),
                "[which frame begins](#begins) a conversation of this system"),
            FormatKey("tls", .section(RelayLoader.upgradeKeys), "[where a conversation changes to TLS](#tls)"),
            FormatKey(
                "relay", .section(RelayLoader.relayKeys),
                "[which frames the server passes on](#relay-and-broadcast) to other clients"),
            FormatKey(
                "broadcast", .section(RelayLoader.broadcastKeys),
                "[which frames the server sends](#relay-and-broadcast) to all of its clients"),
            FormatKey(
                "secret", .oneOrMore(.any([.shared(SecretLoader.value), .section(SecretLoader.section)])),
                "[values](#secret-and-hazards) that are shown only on request"),
            FormatKey(
                "hazards", .oneOrMore(.any([.shared(HazardLoader.value), .section(HazardLoader.section)])),
                "[known failures](#secret-and-hazards) of published receivers of this format, by name"),
        ])

    static let innerKeys: KeySection = KeySection(
        "formats", "a format inside bodies", LayoutLoader.frames + LayoutLoader.sides(LayoutLoader.sideKeys))

    static let frameKeys: KeySection = KeySection(
        "frame", "what a frame is called",
        [
            FormatKey(
                "type", .any([.text("a field"), .list(.any([.text("a field"), .section(caseKeys)]), least: 1)]),
                """
                the field that holds the type, shown by the value's name if it has one; a value in a field that is a list or an object, \
                `args[0]` or `headers.subject`; a value in the body, `body.json.NAME`; or a list of fields and cases
                """),
            FormatKey(
                "from", .text("a field"), "the field that names the sender, or a value in the body, such as `body.user`"
            ),
            FormatKey("to", .text("a field"), "the field that names the receiver, or a value in the body"),
        ])

    static let caseKeys: KeySection = KeySection(
        "frame.type", "a case of `frame.type`",
        [
            FormatKey(
                "when", .condition, "which frames have the type; all of them by default; it cannot refer to `type`"),
            FormatKey("is", .scalar, "the type", required: true),
        ])
}

/// Every body encoding. A new one is one line here.
enum BodyEncodings {
    static let all: [any BodyEncoding.Type] = [
        TextBody.self, JSONBody.self, ProtobufBody.self, FieldsBody.self, FormatBody.self, XORBody.self,
        BlocksBody.self, AESBody.self, Base64Body.self, Base16Body.self, ZlibBody.self,
        GzipBody.self, DeflateBody.self, ZstdBody.self, HexBody.self, RawBody.self,
    ]

    /// The names, in order.
    static var names: [String] { all.map { $0.name } }

    /// An encoding as a value of a format file.
    static let value: SharedValue = SharedValue(
        "encoding", "an [encoding](#body-how-it-is-encoded)", "one encoding, with options if need be",
        .optioned {
            all.map { KeyOption(name: $0.name, section: $0.keys, short: $0.short, needsSection: $0.needsOptions) }
        })

    /// The encoding of that name.
    static func named(_ name: String) -> (any BodyEncoding.Type)? { all.first { $0.name == name } }
}

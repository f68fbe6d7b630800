/// Every body encoding. A new one is one line here.
enum BodyEncodings {
    static let all: [any BodyEncoding.Type] = [
        TextBody.self, JSONBody.self, ProtobufBody.self, FieldsBody.self, FormatBody.self, XORBody.self,
        BlocksBody.self, AESBody.self, Base64Body.self, Base16Body.self, ZlibBody.self,
        GzipBody.self, DeflateBody.self, HexBody.self, RawBody.self,
    ]

    /// The names, in order.
    static var names: [String] { all.map { $0.name } }

    /// The encoding of that name.
    static func named(_ name: String) -> (any BodyEncoding.Type)? { all.first { $0.name == name } }
}

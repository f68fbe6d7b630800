/// The description of frametap's own API (OpenAPI 3.1).
enum OpenAPI {
    static var document: String { String(decoding: PackageResources.openapi_json, as: UTF8.self) }
}

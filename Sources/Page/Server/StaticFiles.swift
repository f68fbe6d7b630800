import Control
import NIOHTTP1

/// The files of the page, which are in the program. `tools/page-files` writes the list.
enum StaticFiles {
    /// The response with a file; nil if there is none.
    static func response(_ path: [String]) -> HTTPResponse? {
        let name = path.isEmpty ? "index.html" : path.joined(separator: "/")
        guard let file = all.first(where: { $0.path == name }) else { return nil }
        return HTTPResponse(.ok, bytes: file.bytes(), contentType: type(of: name))
    }

    private static func type(of name: String) -> String {
        let types = [
            "html": "text/html; charset=utf-8", "js": "text/javascript; charset=utf-8",
            "css": "text/css; charset=utf-8", "svg": "image/svg+xml", "json": "application/json",
        ]
        return types[name.split(separator: ".").last.map(String.init) ?? ""] ?? "application/octet-stream"
    }
}

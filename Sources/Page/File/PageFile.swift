import Crypto
import Framing

/// The page with its data inside, as one HTML file: it needs no server, and loads nothing.
package enum PageFile {
    /// The file.
    ///
    /// - Parameters:
    ///   - store: the trace.
    ///   - report: what the trace's lines do not have, as JSON (docs/report.md).
    ///   - most: about how many bytes of the trace are in it. Beyond them, frames are left out, and counted.
    package static func bytes(_ store: EventStore, report: [UInt8], most: Int = 48 << 20) -> [UInt8] {
        let index = StaticFiles.text("index.html") ?? ""
        let (script, styles) = (PageScript.text(), PageScript.styles(of: index))
        let policy =
            "default-src 'none'; script-src \(digest(script)); style-src \(digest(styles)); img-src data: blob:; "
            + "base-uri 'none'; form-action 'none'"
        var (head, body): ([UInt8], [UInt8]) = ([], [])
        var isAfterHead = false
        for line in index.split(separator: "\n") {
            if line.hasPrefix("<link rel=\"stylesheet\"") || line.hasPrefix("<script") { continue }
            if line == "</head>" { head += Array("<style>\(styles)</style>\n".utf8) }
            if line == "</body>" { isAfterHead = true }
            if isAfterHead { body += Array("\(line)\n".utf8) } else { head += Array("\(line)\n".utf8) }
            if line.hasPrefix("<meta charset") {
                head += Array("<meta http-equiv=\"Content-Security-Policy\" content=\"\(policy)\">\n".utf8)
            }
        }
        var file = head
        data("trace", PageLines.array(store, most: most), to: &file)
        data("report", report, to: &file)
        file += Array("<script type=\"module\">\(script)</script>\n".utf8)
        return file + body
    }

    /// A hash as a Content Security Policy names what it allows (CSP 3 section 2.3.1).
    private static func digest(_ text: String) -> String {
        let hash = Array(SHA256.hash(data: Array(text.utf8)))
        return "'sha256-\(String(decoding: Base64.encode(hash), as: UTF8.self))'"
    }

    /// Data that a script reads. Nothing in it ends the element, or is a line end to JavaScript.
    private static func data(_ name: String, _ json: [UInt8], to file: inout [UInt8]) {
        file += Array("<script type=\"application/json\" id=\"\(name)\">".utf8)
        file.reserveCapacity(file.count + json.count + json.count / 64)
        var at = 0
        while at < json.count {
            let byte = json[at]
            if byte == UInt8(ascii: "<") {
                file += Array("\\u003c".utf8)
            } else if byte == 0xe2, at + 2 < json.count, json[at + 1] == 0x80, json[at + 2] & 0xfe == 0xa8 {
                file += Array((json[at + 2] == 0xa8 ? "\\u2028" : "\\u2029").utf8)
                at += 2
            } else {
                file.append(byte)
            }
            at += 1
        }
        file += Array("</script>\n".utf8)
    }
}

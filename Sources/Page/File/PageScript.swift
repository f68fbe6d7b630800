/// The page's modules as one script, and its style sheets as one.
///
/// Modules import with `import { … } from "…";` on a line of its own, and export declarations only; no two of them have the same name at
/// their top level. So it is enough to put those that are imported first, and to drop `import` and `export`.
enum PageScript {
    /// The script that begins with `app.js`.
    static func text() -> String {
        var (done, underWay, parts): ([String], Set<String>, [String]) = ([], [], [])
        func add(_ path: String) {
            guard !done.contains(path), underWay.insert(path).inserted, let text = StaticFiles.text(path) else {
                return
            }
            var lines: [Substring] = []
            for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
                if let name = imported(line) {
                    add(resolve(name, beside: path))
                } else {
                    lines.append(line.hasPrefix("export ") ? line.dropFirst("export ".count) : line)
                }
            }
            done.append(path)
            parts.append(lines.joined(separator: "\n"))
        }
        add("app.js")
        return parts.joined(separator: "\n")
    }

    /// The style sheets, in the order in which `index.html` names them.
    static func styles(of index: String) -> String {
        index.split(separator: "\n").compactMap { line in
            guard line.hasPrefix("<link rel=\"stylesheet\""), let name = quoted(line, after: "href=") else {
                return nil
            }
            return StaticFiles.text(name)
        }
        .joined(separator: "\n")
    }

    private static func imported(_ line: Substring) -> String? {
        line.hasPrefix("import {") ? quoted(line, after: "from ") : nil
    }

    private static func quoted(_ line: Substring, after mark: String) -> String? {
        guard let start = line.range(of: mark + "\"")?.upperBound, let end = line[start...].firstIndex(of: "\"") else {
            return nil
        }
        return String(line[start..<end])
    }

    /// The path of a file by its name relative to another one: `./a.js` or `../b/a.js`.
    private static func resolve(_ name: String, beside path: String) -> String {
        var folders = path.split(separator: "/").dropLast()
        for part in name.split(separator: "/") {
            switch part {
            case ".": continue
            case "..": folders = folders.dropLast()
            default: folders.append(part)
            }
        }
        return folders.joined(separator: "/")
    }
}

extension Substring {
    /// Where a text occurs first.
    fileprivate func range(of text: String) -> Range<Index>? {
        ranges(of: text).first
    }
}

extension StaticFiles {
    /// A file's text; nil if there is no such file.
    static func text(_ path: String) -> String? {
        all.first { $0.path == path }.map { String(decoding: $0.bytes(), as: UTF8.self) }
    }
}

import Dispatch
import Platform

/// The user's web browser.
enum Browser {
    /// Whether there is a screen to show a page on.
    static var isThere: Bool {
        #if os(macOS)
        true
        #else
        ["DISPLAY", "WAYLAND_DISPLAY"].contains { !(Environment[$0] ?? "").isEmpty }
        #endif
    }

    /// How long a browser that has been started may take to read a file.
    private static let patience = 60.0

    /// Opens an address that nobody else may know: the arguments of a program are shown to every user of the machine. So the browser
    /// opens a file that leads there, which only this user can read. If that fails, the user still has what was printed.
    ///
    /// - Returns: the file, which is to be removed when the address is not served any more; it removes itself after a minute.
    static func open(secret address: String) -> String? {
        let folder = Environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        let number = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }.joined()
        let path = "\(folder)/frametap-\(number).html"
        do { try PrivateFile.write(leading(to: address + "&from=file"), to: path, mode: 0o600) } catch {
            warn("\(error); open the address yourself")
            return nil
        }
        start(path)
        DispatchQueue.global().asyncAfter(deadline: .now() + patience) { remove(path) }
        return path
    }

    /// Removes the file, if it is still there.
    static func remove(_ path: String) { unlink(path) }

    /// A page that leads to an address.
    private static func leading(to address: String) -> String {
        let escaped = address.replacing("&", with: "&amp;").replacing("\"", with: "&quot;")
        return """
            <!doctype html>
            <meta charset="utf-8">
            <title>frametap</title>
            <meta name="referrer" content="no-referrer">
            <meta http-equiv="refresh" content="0;url=\(escaped)">
            <p><a href="\(escaped)">frametap</a></p>

            """
    }

    private static func start(_ path: String) {
        #if os(macOS)
        let opener = "open"
        #else
        let opener = "xdg-open"
        #endif
        guard let process = try? ChildProcess([opener, path]) else { return }
        DispatchQueue(label: "browser").async { _ = process.wait() }
    }
}

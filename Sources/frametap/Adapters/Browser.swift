import Foundation

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

    /// Opens an address. If that fails, the user still has what was printed.
    static func open(_ address: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        #if os(macOS)
        process.arguments = ["open", address]
        #else
        process.arguments = ["xdg-open", address]
        #endif
        (process.standardInput, process.standardOutput, process.standardError) =
            (FileHandle.nullDevice, FileHandle.nullDevice, FileHandle.nullDevice)
        try? process.run()
    }
}

import LiveCapture
import Streams

/// The interfaces, one per line: `eth0   up, running   10.0.0.2, fe80::1`.
enum InterfaceListing {
    static func write() throws {
        let output = FileOutput.standardOutput()
        output.whenBroken = { $0.endProcess() }
        let interfaces: [NetworkInterface]
        do throws(LiveCaptureError) {
            interfaces = try NetworkInterface.all()
        } catch {
            throw CommandError(error.message)
        }
        if interfaces.isEmpty { warn("there are no interfaces that could be captured on") }
        let rows = interfaces.map { interface in
            [interface.name, state(of: interface), place(of: interface)]
        }
        let widths = (0..<2).map { column in rows.map { $0[column].count }.max() ?? 0 }
        for row in rows {
            let cells = row.enumerated().map { index, text in
                index < 2 ? text + String(repeating: " ", count: widths[index] - text.count) : text
            }
            var line = cells.joined(separator: "   ")
            while line.last == " " { line.removeLast() }
            output.write(Array((line + "\n").utf8))
        }
    }

    private static func state(of interface: NetworkInterface) -> String {
        var words = [interface.isUp ? "up" : "down"]
        if interface.isUp, !interface.isRunning { words.append("no link") }
        if interface.isLoopback { words.append("loopback") }
        return words.joined(separator: ", ")
    }

    private static func place(of interface: NetworkInterface) -> String {
        if interface.addresses.isEmpty { return interface.description ?? "" }
        return interface.addresses.map(\.description).joined(separator: ", ")
    }
}

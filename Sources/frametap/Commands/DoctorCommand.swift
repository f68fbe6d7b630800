import ArgumentParser
import Certificates
import Framing
import LiveCapture
import Platform
import Trace

/// `frametap doctor`: what works here, and what to do about the rest.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Report what works on this machine.",
        discussion: """
            Checks the formats, the permission to capture, the CA of the proxy and who trusts it, the browser, and the limits of this \
            process. Nothing is changed. Exits with 1 if something that every command needs does not work.
            """)

    /// A line of the report.
    private struct Check {
        enum Result: String {
            case works = "ok"
            /// Only some commands need it.
            case missing = "no"
            case broken = "BROKEN"
        }

        var result: Result
        var name: String
        var text: String
    }

    func run() throws {
        let checks = [formats(), capture(), authority(), trust(), browser(), descriptors(), terminal()]
        let width = checks.map { $0.name.count }.max() ?? 0
        printText(Frametap.tool)
        for check in checks {
            let mark = check.result.rawValue + String(repeating: " ", count: max(0, 6 - check.result.rawValue.count))
            let name = check.name + String(repeating: " ", count: width - check.name.count)
            let lines = check.text.split(separator: "\n").map { PrintableText.of($0) }
            let indent = String(repeating: " ", count: 2 + 6 + 2 + width + 2)
            printText("  \(mark)  \(name)  \(lines.joined(separator: "\n" + indent))")
        }
        if checks.contains(where: { $0.result == .broken }) { throw ExitCode(1) }
    }

    private func formats() -> Check {
        do {
            let count = try BuiltInFormats.all().count
            return Check(result: .works, name: "formats", text: "\(count) built in; frametap formats lists them")
        } catch {
            return Check(result: .broken, name: "formats", text: "\(error)")
        }
    }

    private func capture() -> Check {
        let library: String
        do {
            library = try LiveCapture.libraryVersion()
        } catch {
            return Check(result: .missing, name: "capture", text: "\(error)")
        }
        do {
            let interfaces = try NetworkInterface.all()
            guard let first = interfaces.first(where: \.isUp) ?? interfaces.first else {
                return Check(result: .missing, name: "capture", text: "\(library), but there is no interface")
            }
            _ = try LiveCapture(first.name)
            let count = Quantities.counted(interfaces.count, "interface")
            return Check(
                result: .works, name: "capture",
                text: "\(library), \(count); frametap capture --list-interfaces lists them")
        } catch {
            let advice = error.kind == .notPermitted ? "\n" + CapturePermission.advice : ""
            return Check(result: .missing, name: "capture", text: "\(library): \(error)\(advice)")
        }
    }

    private func authority() -> Check {
        do {
            let folder = try AuthorityFolder.standard()
            guard folder.hasFiles else {
                return Check(
                    result: .missing, name: "CA",
                    text: "none yet; the proxy makes one when it first decrypts TLS, and so does: frametap ca create")
            }
            let certificate = try folder.certificate()
            return Check(
                result: .works, name: "CA", text: "\(folder.certificatePath), \(certificate.fingerprint)")
        } catch {
            return Check(result: .missing, name: "CA", text: "\(error)")
        }
    }

    private func trust() -> Check {
        guard let certificate = try? AuthorityFolder.standard().certificate() else {
            return Check(result: .missing, name: "trust", text: "there is no CA to trust")
        }
        let system = SystemTrust()
        guard system.isAvailable else {
            return Check(
                result: .missing, name: "trust",
                text: "not checked on this system: frametap ca trust explains how to trust the CA")
        }
        if system.installed == certificate.fingerprint {
            return Check(result: .works, name: "trust", text: "this system trusts the CA")
        }
        return Check(
            result: .missing, name: "trust", text: "this system does not trust the CA: frametap ca trust says how")
    }

    private func browser() -> Check {
        Browser.isThere
            ? Check(result: .works, name: "browser", text: "view opens a page")
            : Check(
                result: .missing, name: "browser",
                text: "no screen here: view and --web print an address, which an SSH tunnel reaches")
    }

    private func descriptors() -> Check {
        var limit = rlimit()
        guard getrlimit(CLibrary.descriptorLimit, &limit) == 0 else {
            return Check(result: .broken, name: "files", text: "the limit of open files is not known: \(systemError())")
        }
        // A relayed connection has two sockets.
        let most = DescriptorLimit.connections(with: min(UInt64(limit.rlim_max), DescriptorLimit.most))
        return Check(
            result: .works, name: "files",
            text: "at most \(Quantities.grouped(most)) connections through a proxy (the limit of open files)")
    }

    private func terminal() -> Check {
        let output = FileOutput.standardOutput()
        guard output.isTerminal else {
            return Check(result: .works, name: "terminal", text: "output is not a terminal")
        }
        let colors = ColorChoice.auto.applies(to: output) ? "colors" : "no colors"
        return Check(
            result: .works, name: "terminal",
            text: "\(colors)\(output.terminalColumns.map { ", \($0) columns" } ?? "")")
    }
}

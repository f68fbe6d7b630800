import ArgumentParser
import Certificates
import Platform

/// `frametap ca`: the certificate authority with which the proxy decrypts TLS.
struct CACommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "ca",
        abstract: "Create, show, trust and remove the CA with which the proxy reads TLS.",
        subcommands: [Create.self, Show.self, Trust.self, Remove.self])

    struct Create: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "create", abstract: "Create a CA: a certificate and its private key.")

        @Flag(help: "Replace a CA that exists. Clients must then trust the new one.")
        var force = false

        @OptionGroup var authority: AuthorityOptions

        func run() throws {
            let folder = try authority.folder()
            let created = try folder.create(replacing: force)
            printText("created      \(printable(folder.certificatePath))")
            printText("fingerprint  \(created.fingerprint)")
            printText("next: frametap ca trust\(printable(folder.option))")
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show the CA: whom it names, until when it is valid, where it is.")

        @Flag(help: "Also print the certificate, as PEM.")
        var pem = false

        @OptionGroup var authority: AuthorityOptions

        func run() throws {
            let folder = try authority.folder()
            let certificate = try folder.certificate()
            printText("subject      \(printable(certificate.subject))")
            printText("fingerprint  \(certificate.fingerprint)")
            printText("valid        \(certificate.notBefore) to \(certificate.notAfter)")
            printText("certificate  \(printable(folder.certificatePath))")
            printText("key          \(printable(folder.keyPath))")
            if pem { printText("\n\(certificate.pem)", terminator: "") }
            // What would keep the proxy from using it.
            _ = try folder.load(orCreate: false)
        }
    }

    struct Trust: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "trust",
            abstract: "Explain how clients are made to trust the CA, and do it where possible.",
            discussion: "On Debian and Ubuntu, root installs it in the system, if you agree or say --yes.")

        @Flag(help: "Install it in the system without asking.")
        var yes = false

        @OptionGroup var authority: AuthorityOptions

        func run() throws {
            let folder = try authority.folder()
            let certificate = try folder.certificate()
            try certificate.check(at: .now)
            let system = SystemTrust()
            printText("Clients must trust \(printable(certificate.subject)), fingerprint \(certificate.fingerprint)\n")
            printText(TrustInstructions(path: folder.certificatePath, system: system).trust)
            if system.isAvailable, system.installed == certificate.fingerprint {
                printText("\nThis system trusts it already: \(system.file)")
                return
            }
            let change = "install it in this system" + (system.installed == nil ? "" : ", in place of another CA")
            if try Consent(isGiven: yes).allows(change, in: system, folder, "trust") {
                try system.install(certificate)
                printText("\nThis system trusts it: \(system.file)")
            }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Explain how clients are made to distrust the CA, and do it where possible.",
            discussion: "On Debian and Ubuntu, root removes it from the system, if you agree or say --yes.")

        @Flag(help: "Remove it from the system without asking.")
        var yes = false

        @Flag(help: "Delete the CA's certificate and key.")
        var delete = false

        @OptionGroup var authority: AuthorityOptions

        func run() throws {
            let folder = try authority.folder()
            let system = SystemTrust()
            // Files that cannot be read can be deleted.
            let certificate = delete ? try? folder.certificate() : try folder.certificate()
            printText(TrustInstructions(path: folder.certificatePath, system: system).remove)
            if let certificate, system.installed == certificate.fingerprint {
                if try Consent(isGiven: yes).allows("remove it from this system", in: system, folder, "remove") {
                    try system.remove()
                    printText("\nThis system no longer trusts it: deleted \(system.file)")
                }
            } else if system.installed != nil {
                printText("\nThis system trusts another CA of frametap, which stays: \(system.file)")
            }
            if delete {
                try folder.delete()
                printText("\nDeleted the CA in \(printable(folder.path))")
            }
        }
    }
}

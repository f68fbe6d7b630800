import ArgumentParser

/// Where the certificate authority is.
struct AuthorityOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("The folder of the CA; by default your data folder.", valueName: "dir"),
        completion: .directory)
    var ca: String?

    func validate() throws {
        if ca == "" { throw ValidationError("--ca is empty; expected a folder") }
    }

    func folder() throws -> AuthorityFolder {
        if let ca { AuthorityFolder(ca) } else { try AuthorityFolder.standard() }
    }
}

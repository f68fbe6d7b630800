import Platform

/// The user's consent to a change of the system.
struct Consent {
    /// Whether it was given in advance, with `--yes`.
    let isGiven: Bool

    /// Whether to make the change. Without a terminal nobody can be asked, and nothing is changed.
    ///
    /// - Parameter command: the command that makes it, for those who must repeat it.
    func allows(_ change: String, in system: SystemTrust, _ folder: AuthorityFolder, _ command: String) throws -> Bool {
        guard system.isAvailable else {
            if isGiven {
                throw CommandError(
                    "cannot \(change): there is no \(system.program); expected Debian or Ubuntu, "
                        + "elsewhere follow the steps above")
            }
            return false
        }
        guard system.isPermitted else {
            if isGiven {
                // root has another data folder.
                let folder = AuthorityFolder(folder.path)
                throw CommandError(
                    "cannot \(change): only root may; expected: sudo frametap ca \(command) --yes\(folder.option)")
            }
            return false
        }
        if isGiven { return true }
        guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else { return false }
        writeToStandardError("\nframetap: \(change)? [y/N] ")
        return ["y", "yes"].contains((readLine() ?? "").lowercased())
    }
}

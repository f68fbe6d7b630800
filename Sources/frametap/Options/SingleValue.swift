import ArgumentParser

extension [String] {
    /// The value of an option that takes one: of several, the last would silently take the place of the others.
    ///
    /// - Parameter advice: what to do instead of giving several.
    func single(_ option: String, _ advice: String) throws -> String? {
        guard count < 2 else { throw ValidationError("\(option) is given \(count) times; \(advice)") }
        return first
    }
}

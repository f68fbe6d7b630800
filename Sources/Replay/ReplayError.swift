/// Why a trace cannot be replayed.
package struct ReplayError: Error, Hashable, CustomStringConvertible {
    /// What was found, and what was expected.
    package var description: String

    package init(_ description: String) {
        self.description = description
    }
}

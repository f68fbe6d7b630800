/// Why a trace cannot be replayed.
package struct ReplayError: Error, Hashable, CustomStringConvertible {
    /// The problem, and what was expected.
    package var description: String

    package init(_ description: String) {
        self.description = description
    }
}

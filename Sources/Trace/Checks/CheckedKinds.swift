/// What a check of a trace fails on, as `--fail-on` names it: kinds of findings, `unframed`, `missing` and `dropped`.
package struct CheckedKinds: Sendable {
    /// The names; empty: every warning and error.
    package var names: Set<String>

    /// What fails a check.
    package init(_ names: Set<String> = []) { self.names = names }

    /// Whether a finding does.
    func includes(_ finding: Finding) -> Bool {
        names.isEmpty ? finding.severity != .info : names.contains(finding.kind.rawValue)
    }

    /// Whether bytes that are `unframed`, `missing` or `dropped` do.
    func includes(_ name: String) -> Bool { names.isEmpty || names.contains(name) }
}

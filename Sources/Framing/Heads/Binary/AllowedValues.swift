/// A range of values that a field may have, or one of them.
package struct AllowedValues: Sendable, Hashable {
    package var low: FieldValue
    package var high: FieldValue

    func contains(_ value: FieldValue) -> Bool {
        switch (value, low, high) {
        case (.integer(let value), .integer(let low), .integer(let high)): low <= value && value <= high
        default: value == low
        }
    }
}

extension [AllowedValues] {
    /// Whether a value is one of these; without any, every value is.
    func allow(_ value: FieldValue) -> Bool { isEmpty || contains { $0.contains(value) } }
}

extension FieldValue {
    /// Why a field or an item may not have the value.
    func isNotAllowed(as name: String) -> String { "\(name) is \(shortDescription), which is not allowed" }
}

import Streams

/// A field of a head: its name and its value.
public struct Field: Hashable, Sendable {
    /// The field's name.
    public var name: String
    /// The field's value.
    public var value: FieldValue

    /// A field.
    public init(_ name: String, _ value: FieldValue) {
        self.name = name
        self.value = value
    }
}

/// The layout of the fields in a frame's head: one kind of head of the format language.
package protocol Head: Sendable {
    /// All fields, in the order traces show them; empty if the bytes are not such a head.
    func fields(of head: RawSpan) -> [Field]

    /// Writes all fields as a JSON object, for traces.
    func writeFields(of head: RawSpan, into bytes: inout [UInt8])

    /// The names that fields may have; nil: any.
    var names: [String]? { get }

    /// The name of a field's value, if the format has one.
    func valueName(of name: String, _ value: FieldValue) -> String?

    /// One field; nil if there is none of that name.
    func field(_ name: String, of head: RawSpan) -> FieldValue?

    /// The bytes of a head with these fields, lengths filled in.
    ///
    /// - Parameters:
    ///   - fields: in the order in which they are written if the head has none of its own.
    ///   - body: how many bytes of body follow.
    func encode(_ fields: [Field], body: Int) throws(EncodingError) -> [UInt8]

    /// A head with other values, and with the lengths of a body of this size; everything else keeps its bytes.
    func edit(_ head: [UInt8], _ changes: [Field], body: Int) throws(EncodingError) -> [UInt8]

    /// A head with bytes replaced where they are, and nothing else changed.
    ///
    /// - Parameter changes: the new values; those of which the head has bytes are removed.
    func overwrite(_ head: [UInt8], _ changes: inout [Field]) throws(EncodingError) -> [UInt8]

    /// Where a field's value is; nil if there is none of that name that has bytes of its own.
    func place(ofField name: String, in head: RawSpan) -> Range<Int>?
}

extension Head {
    /// Any.
    package var names: [String]? { nil }

    /// Values have no names.
    package func valueName(of name: String, _ value: FieldValue) -> String? { nil }

    /// As `fields` has them.
    package func writeFields(of head: RawSpan, into bytes: inout [UInt8]) {
        JSONOutput.object(fields(of: head), into: &bytes)
    }
}

/// Why a frame cannot be built.
package struct EncodingError: Error, Hashable, CustomStringConvertible {
    /// Human-readable: which field, what was given, and what would be accepted.
    package var description: String
    /// The same without values that were read from a frame, which may be secret.
    package var withoutValues: String

    /// Why a frame cannot be built.
    ///
    /// - Parameter withoutValues: the same without values that were read; nil: there are none in it.
    package init(_ description: String, withoutValues: String? = nil) {
        (self.description, self.withoutValues) = (description, withoutValues ?? description)
    }

    /// The error of a value that a field cannot have.
    ///
    /// - Parameter wanted: what is expected of it.
    static func unfit(_ name: String, _ value: FieldValue, _ wanted: String) -> EncodingError {
        EncodingError(
            "\(name) is \(value.shortDescription); \(wanted)", withoutValues: "\(name) does not fit: \(wanted)")
    }
}

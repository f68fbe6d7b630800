import Framing
import Streams
import Trace

extension FieldValue {
    /// The value as printable text of at most 40 columns, as findings show it; nil for null.
    var shortText: String? {
        let columns = 40
        // No more digits are written than are shown.
        if case .bytes(let bytes) = self {
            return PrintableText.of(Hexadecimal.text(bytes.prefix(columns / 2 + 1)), columns: columns)
        }
        return plainText.map { PrintableText.of($0, columns: columns) }
    }
}

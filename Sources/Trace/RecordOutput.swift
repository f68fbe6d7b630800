import Streams

/// The destination of a record that may continue in another file: a file, or a series of them.
///
/// The writer asks before each piece that must not be split, and begins the next file with what it needs to be readable on its
/// own.
package protocol RecordOutput: ByteOutput {
    /// Whether a caller requested another file, or this one anew.
    var isAskedForNext: Bool { get }

    /// Whether this file would exceed its size limit with the bytes waiting to be written, or has reached its age limit.
    func isFull(adding byteCount: Int, at time: Timestamp) -> Bool

    /// Ends the file, and continues with another one.
    ///
    /// - Parameters:
    ///   - ending: the last bytes of this file.
    ///   - time: when.
    /// - Returns: false if there is no other: writing continues as before, and `ending` was not written.
    func next(ending: [UInt8], at time: Timestamp) -> Bool
}

extension MemoryOutput: RecordOutput {
    /// No one asks.
    package var isAskedForNext: Bool { false }
    /// It has room for everything.
    package func isFull(adding byteCount: Int, at time: Timestamp) -> Bool { false }
    /// There is no other.
    package func next(ending: [UInt8], at time: Timestamp) -> Bool { false }
}

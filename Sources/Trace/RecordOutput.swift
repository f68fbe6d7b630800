import Streams

/// Where a record that may go on in another file is written: a file, or a series of them.
///
/// Whoever writes asks before each piece that must not be torn, and begins the next file with what it needs to be readable
/// on its own.
package protocol RecordOutput: ByteOutput {
    /// Whether somebody asked for another file, or for this one anew.
    var isAskedForNext: Bool { get }

    /// Whether this file would become longer than it may with what waits to be written, or is as old as it may be.
    func isFull(adding byteCount: Int, at time: Timestamp) -> Bool

    /// Ends the file, and goes on with another one.
    ///
    /// - Parameters:
    ///   - ending: the last bytes of this file.
    ///   - time: when.
    /// - Returns: false where there is no other: writing goes on as before, and `ending` was not written.
    func next(ending: [UInt8], at time: Timestamp) -> Bool
}

extension MemoryOutput: RecordOutput {
    /// Nobody asks.
    package var isAskedForNext: Bool { false }
    /// It has room for everything.
    package func isFull(adding byteCount: Int, at time: Timestamp) -> Bool { false }
    /// There is no other.
    package func next(ending: [UInt8], at time: Timestamp) -> Bool { false }
}

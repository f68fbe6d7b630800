import Framing
import Platform
import Streams
import Trace

/// Writes each frame's body to a file of its own: `CONNECTION-SIDE-INDEX.bin`. Bodies with secrets are omitted.
final class BodyFiles: TraceSink {
    private let folder: String
    /// Whether a body could not be written; no more are written then.
    private var hasFailed = false
    private let whenFailed: () -> Void
    private var secretBodies = 0
    /// The frames whose bodies are being written while they arrive.
    private var partial: [Side: Int] = [:]
    private static let unfinished = ".partial"

    private struct Side: Hashable {
        let connection: ConnectionLeg
        let direction: Direction

        init(_ connection: ConnectionLeg, _ direction: Direction) {
            (self.connection, self.direction) = (connection, direction)
        }
    }

    /// Bodies are written while they arrive.
    let bodyLimit = 0

    /// Creates the folder if it does not exist.
    ///
    /// - Parameter whenFailed: called if a body could not be written.
    init(in folder: String, whenFailed: @escaping () -> Void) throws {
        (self.folder, self.whenFailed) = (folder, whenFailed)
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw CommandError("cannot create the folder \(folder): \(systemError())")
        }
        guard FileStatus(of: folder)?.kind == .folder else {
            throw CommandError("cannot write bodies to \(folder): it is no folder")
        }
    }

    func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard frame.shape.body > 0, !hasFailed else { return }
        if let kinds = connection.kinds(of: frame.direction), !kinds.hidesNothing(frame.kind) || frame.isSecret {
            let body = bytes.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
            let secrets = FrameSecrets(of: frame, bytes, kinds)
            guard secrets.mayDump(frame.decodedBody(of: bytes, kinds), of: body) else {
                secretBodies += 1
                return
            }
        }
        let path = path(frame.info.index, frame.direction, connection)
        let body = bytes.copied(frame.shape.head..<frame.shape.head + frame.shape.body)
        let side = Side(connection.connectionLeg, frame.direction)
        guard partial[side] == frame.info.index else {
            discard(side, connection)
            return write(body, at: 0, to: path)
        }
        partial[side] = nil
        write(body, at: 0, to: path + Self.unfinished)
        guard !hasFailed else { return }
        // If bytes at its end were not seen, nothing was written there.
        if truncate(path + Self.unfinished, off_t(frame.shape.body + frame.info.streamed)) != 0
            || rename(path + Self.unfinished, path) != 0
        {
            fail("cannot write \(path): \(systemError())")
        }
    }

    /// A large body is written while it arrives; its first bytes follow when it is complete.
    func streamed(
        _ part: StreamedPart, bytes: RawSpan, from direction: Direction, on connection: TracedConnection
    ) {
        guard !hasFailed else { return }
        let side = Side(connection.connectionLeg, direction)
        let path = path(part.index, direction, connection) + Self.unfinished
        if partial[side] != part.index {
            discard(side, connection)
            // Data that a killed run left there is not part of this body.
            unlink(path)
        }
        partial[side] = part.index
        write(bytes.copied(), at: part.offset, to: path)
    }

    private func path(_ index: Int, _ direction: Direction, _ connection: TracedConnection) -> String {
        let digits = String(index)
        let index = String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
        let leg = connection.leg == .out ? "out-" : ""
        return "\(folder)/\(connection.number)-\(leg)\(direction.sender)-\(index).bin"
    }

    /// Opens the file for each write: thousands of bodies may be in progress at once.
    private func write(_ bytes: [UInt8], at offset: Int, to path: String) {
        let descriptor = open(
            path, O_WRONLY | O_CREAT | O_CLOEXEC | (path.hasSuffix(Self.unfinished) ? 0 : O_TRUNC), 0o600)
        guard descriptor >= 0 else { return fail("cannot create \(path): \(systemError())") }
        let file = FileOutput(descriptor: descriptor, name: path, closes: true)
        file.whenBroken = { [weak self] in self?.fail($0.message) }
        lseek(descriptor, off_t(offset), SEEK_SET)
        file.write(bytes)
    }

    private func fail(_ message: String) {
        guard !hasFailed else { return }
        hasFailed = true
        whenFailed()
        warn("\(message); no more bodies are written")
    }

    /// Removes the file of a body that was not completed, or is not wanted.
    private func discard(_ side: Side, _ connection: TracedConnection) {
        guard let index = partial.removeValue(forKey: side) else { return }
        unlink(path(index, side.direction, connection) + Self.unfinished)
    }

    func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {
        if run.streamed > 0 { discard(Side(connection.connectionLeg, direction), connection) }
    }
    func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        for direction in Direction.allCases { discard(Side(connection.connectionLeg, direction), connection) }
    }
    func summary(_ summary: Summary) {
        guard secretBodies > 0 else { return }
        let bodies =
            secretBodies == 1 ? "1 body that holds a secret was" : "\(secretBodies) bodies that hold secrets were"
        warn("\(bodies) not written to \(folder); --show-secrets writes them")
    }
}

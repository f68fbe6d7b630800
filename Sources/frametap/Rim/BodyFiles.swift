import Framing
import Streams
import Trace

/// Writes each frame's body to a file of its own: `CONNECTION-SIDE-INDEX.bin`. Bodies with secrets are left out.
final class BodyFiles: TraceSink {
    private let folder: String
    private var hasFailed = false
    private var secretBodies = 0

    /// Creates the folder where it does not exist.
    init(in folder: String) throws {
        self.folder = folder
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw Trouble("cannot create the folder \(folder): \(systemError())")
        }
    }

    func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard frame.shape.body > 0, !hasFailed else { return }
        if let kinds = connection.kinds?[frame.direction], !kinds.hidesNothing(frame.kind) || frame.isSecret {
            let body = bytes.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
            let secrets = FrameSecrets(of: frame, bytes, kinds)
            guard secrets.mayDump(frame.decodedBody(of: bytes, kinds), of: body) else {
                secretBodies += 1
                return
            }
        }
        let digits = String(frame.info.index)
        let index = String(repeating: "0", count: max(0, 6 - digits.utf8.count)) + digits
        do {
            let file = try FileOutput(creating: "\(folder)/\(connection.number)-\(frame.direction.sender)-\(index).bin")
            file.write(bytes.copied(frame.shape.head..<frame.shape.head + frame.shape.body))
        } catch {
            hasFailed = true
            complain("\(error); no more bodies are written")
        }
    }

    func opened(_ connection: TracedConnection) {}
    func recognised(_ connection: TracedConnection) {}
    func missing(_ hole: Hole, on connection: TracedConnection) {}
    func dropped(_ hole: Hole, reason: String, on connection: TracedConnection) {}
    func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {}
    func finding(_ finding: Finding) {}
    func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {}
    func summary(_ summary: Summary) {
        guard secretBodies > 0 else { return }
        let bodies =
            secretBodies == 1 ? "1 body that holds a secret was" : "\(secretBodies) bodies that hold secrets were"
        complain("\(bodies) not written to \(folder); --show-secrets writes them")
    }
    func flush() {}
}

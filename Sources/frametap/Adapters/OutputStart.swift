import Trace

/// Empties an output at the first connection of a trace: before that, it may turn out that nothing can be read, and what the file has
/// stays.
final class OutputStart: TraceSink {
    private let file: FileOutput

    let takesFrames = false
    let bodyLimit = 0

    init(_ file: FileOutput) { self.file = file }

    func opened(_ connection: TracedConnection) { file.begin() }
}

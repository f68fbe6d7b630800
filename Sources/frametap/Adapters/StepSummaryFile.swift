import Platform
import Trace

/// The file in which GitHub Actions collects the summaries of a step (`GITHUB_STEP_SUMMARY`).
final class StepSummaryFile: ByteOutput {
    private let path: String

    /// Nil outside GitHub Actions.
    init?() {
        guard let path = Environment["GITHUB_STEP_SUMMARY"], !path.isEmpty else { return nil }
        self.path = path
    }

    /// Appends the bytes: other steps of the job write there, too.
    func write(_ bytes: [UInt8]) {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { return warn("cannot write the step's summary, \(path): \(systemError())") }
        defer { close(descriptor) }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Platform.write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { return warn("cannot write the step's summary, \(path): \(systemError())") }
            rest = rest.dropFirst(count)
        }
    }
}

import ArgumentParser
import Framing
import Replay
import Streams
import Trace
import TraceDiff

/// A recorded conversation that can be played again, and how its answers are compared.
struct RecordingToPlay {
    let recording: Recording
    let format: Format
    let comparison: Comparison

    /// Reads a trace or a capture.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - format: its format; nil: that of all of its connections.
    ///   - keys: the keys of bodies, as `--key` takes them.
    ///   - side: whose frames must be complete.
    ///   - example: how a format is given, by its name.
    init(
        _ path: String, format name: String?, keys: [String] = [], mask: [String], ignore: [String],
        saying side: Direction, example: (String) -> String
    ) throws {
        // Parses nothing to get the defaults.
        var formats = try FormatOptions.parse([])
        if let name { formats.formats = [name] }
        var resources = try BodyOptions.parse([])
        resources.keys = keys
        var bodies = resources
        // Masked values cannot be sent.
        bodies.showSecrets = true
        var loading = TraceLoading(format: formats, bodies: bodies, bodyLimit: .max)
        loading.keptSide = side
        let trace = try loading.trace(of: [path])
        var comparing = try ComparisonOptions.parse([])
        (comparing.mask, comparing.ignore) = (mask, ignore)
        comparison = try comparing.comparison()
        let plain: Format
        var found = name ?? ""
        do {
            do { if name == nil { found = try Recording.format(of: trace) } } catch {
                throw CommandError("\(path): \(error). Give it: \(example("FORMAT"))")
            }
            plain = try FormatOptions.named(found)
        } catch let error as FormatNameError where name != nil {
            throw CommandError("\(error)")
        } catch let error as CommandError {
            throw error
        } catch is FormatNameError {
            throw CommandError("\(path): frametap has no format \(found); give the format's file: \(example(found))")
        } catch {
            throw CommandError("\(path): \(error)")
        }
        // Bodies that were decrypted are encrypted again.
        format = try resources.applied(to: plain)
        do throws(ReplayError) {
            recording = try Recording(trace, format: format.name, rules: comparison.rules)
            try recording.check(FrameBuilder(format, recording), side)
            if side == .fromServer { try recording.checkRequests() }
            for line in Challenges.lines(in: trace) { warn(line) }
        } catch {
            throw CommandError("\(path): \(error)")
        }
    }
}

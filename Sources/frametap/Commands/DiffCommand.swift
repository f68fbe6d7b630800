import ArgumentParser
import Platform
import Streams
import Trace
import TraceDiff

/// `frametap diff`: compares traces and captures.
struct DiffCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Compare the conversations of traces or captures.",
        discussion: """
            Connections are matched by what was said on them, frames by type and content. Times, ports, offsets and how frames \
            were split do not count, unless you request them. Exit status: 0 the same, 1 different, 2 error.

              frametap diff golden.ndjson chat.pcapng
              frametap diff --mask rules.yaml --as junit golden.ndjson chat.pcapng
              frametap diff monday-*.pcap --against tuesday-*.pcap
              frametap diff --learn run1.pcapng run2.pcapng run3.pcapng > rules.yaml
            """)

    /// The output forms of a difference.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case text, json, junit, github
    }

    @Argument(
        help: ArgumentHelp("The expected and the actual trace: NDJSON or captures.", valueName: "file"),
        completion: .file())
    var files: [String]

    @Option(
        parsing: .upToNextOption,
        help: ArgumentHelp(
            "Files of the actual side; the files before --against are the expected side.", valueName: "file"),
        completion: .file())
    var against: [String] = []

    @Flag(help: "Compare runs that should be equal, and print rules for what differs between them.")
    var learn = false

    @Option(name: .customLong("as"), help: "What to print: \(Form.allValueStrings.joined(separator: ", ")).")
    var form = Form.text

    @Option(
        help: ArgumentHelp(
            "Of proxied connections with rules, compare what both sides sent (in) or what was passed on (out).",
            valueName: "leg"))
    var leg = LegOption.in

    @OptionGroup(title: "Comparing") var comparing: ComparisonOptions
    @OptionGroup(title: "Decoding captures") var format: FormatOptions
    @OptionGroup(title: "Decoding captures") var bodies: BodyOptions
    @OptionGroup(title: "Decoding captures") var decryption: DecryptionOptions
    @OptionGroup(title: "Decoding captures") var memory: MemoryOptions

    @Option(help: ArgumentHelp("Compare at most N bytes of each body of a capture.", valueName: "bytes"))
    var bodyLimit = 4_096

    @Option(help: ArgumentHelp("Show N frames around each difference.", valueName: "frames"))
    var context = 3

    @Flag(help: "Show both sides side by side.")
    var sideBySide = false

    @Option(help: ArgumentHelp("When to use colors. Honors NO_COLOR.", valueName: "when"))
    var color = ColorChoice.auto

    func validate() throws {
        if bodyLimit < 0 { throw ValidationError("--body-limit is \(bodyLimit); expected 0 or more bytes") }
        if context < 0 { throw ValidationError("--context is \(context); expected 0 or more frames") }
        if learn {
            if files.count < 2 || !against.isEmpty {
                throw ValidationError("--learn takes two or more files, one a run")
            }
        } else if against.isEmpty, files.count != 2 {
            throw ValidationError(
                "expected two files, EXPECTED and ACTUAL, found \(files.count); of several files a side, those of the "
                    + "actual side after --against")
        }
    }

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let output = FileOutput.standardOutput()
        output.whenBroken = { $0.endProcess(unless: true) }
        let comparison = try comparing.comparison()
        let loading = TraceLoading(
            format: format, bodies: bodies, bodyLimit: bodyLimit, memory: memory, decryption: decryption)
        if learn {
            let runs = try files.map { leg.of(try loading.trace(of: [$0])) }
            let result = RuleLearning.learn(from: runs, comparison)
            var notes = [result.share.description]
            notes += result.remaining.map { "still different: \($0)" } + result.challenges
            for note in notes { warn(note) }
            output.write(Array(RulesYAML.text(of: result.rules, runs: files, notes: notes).utf8))
            return
        }
        let sides = against.isEmpty ? ([files[0]], [files[1]]) : (files, against)
        let difference = TraceComparison.compare(
            expected: leg.of(try loading.trace(of: sides.0)), actual: leg.of(try loading.trace(of: sides.1)), comparison
        )
        output.write(Array(text(of: difference, output).utf8))
        if !difference.isEmpty { throw ExitCode(1) }
    }

    /// Annotations at the lines of the expected trace, and the difference as the step's summary.
    private func annotations(of difference: TraceDifference) -> String {
        let isTrace = (try? TraceLoading.kind(of: [files[0]])) == .lines
        let wanted = DiffGitHub.places(in: difference)
        let lines = isTrace && files.count == (against.isEmpty ? 2 : 1) ? TraceLines.find(wanted, in: files[0]) : [:]
        StepSummaryFile()?.write(
            Array(DiffGitHub.summary(of: difference, name: (files + against).joined(separator: " ")).utf8))
        return DiffGitHub.of(difference, file: files[0], lines: lines)
    }

    private func text(of difference: TraceDifference, _ output: FileOutput) -> String {
        switch form {
        case .json: return DiffJSON.of(difference)
        case .github: return annotations(of: difference)
        case .junit:
            return DiffJUnit.of(difference, name: (files + against).joined(separator: " "))
        case .text:
            var options = DiffTextOptions()
            options.context = context
            options.sideBySide = sideBySide
            options.isColored = color.applies(to: output)
            options.columns = output.terminalColumns ?? (sideBySide ? 160 : 120)
            return DiffText.of(difference, options)
        }
    }
}

import CFuzzer

// `fuzz TARGET ARGUMENTS-OF-LIBFUZZER…`; scripts/fuzz calls it.
guard FuzzTarget.chosen != nil else {
    fatalError("usage: fuzz TARGET …; the targets are \(FuzzTarget.allCases.map(\.rawValue).joined(separator: " "))")
}

/// What libFuzzer calls for every input: hands its bytes to the target.
private func run(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    FuzzTarget.chosen?.run(FuzzInput(bytes))
    return 0
}

// What is loaded once, such as all formats, takes none of the first input's time.
FuzzTarget.chosen?.run(FuzzInput([]))

// libFuzzer passes over the first argument that is no option only if it is the program's name: leave the target out.
var arguments = CommandLine.unsafeArgv + 1
var argumentList: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = arguments
var argumentCount = CommandLine.argc - 1
_ = LLVMFuzzerRunDriver(&argumentCount, &argumentList) { run($0, $1) }

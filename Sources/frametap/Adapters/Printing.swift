/// Prints text to standard output. Unlike `print`, which cannot fail, it ends the process with exit status 2 if that takes no more.
func printText(_ text: String, terminator: String = "\n") {
    let output = FileOutput.standardOutput()
    output.whenBroken = { $0.endProcess() }
    output.write(Array((text + terminator).utf8))
}

/// The descriptors that a program begins with: standard input, output and error.
package enum StandardDescriptors {
    /// Opens `/dev/null` for those that are closed: the next files would get their numbers, and what is printed.
    ///
    /// Reading standard input and writing standard output still fail; messages are lost.
    package static func openClosed() {
        for (descriptor, flags) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_WRONLY)]
        where fcntl(descriptor, F_GETFD) < 0 && errno == EBADF {
            // A file gets the lowest free number: this one, as those before it are open.
            _ = open("/dev/null", flags)
        }
    }
}

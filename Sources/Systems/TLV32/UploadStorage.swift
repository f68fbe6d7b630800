/// Where a server keeps uploads. It is a seam: machines do no I/O of their own.
package protocol UploadStorage: Sendable {
    /// Where that is, in words.
    var place: String { get }

    /// Stores an upload. It blocks: uploads are stored in order, and no faster than they arrive.
    func store(_ upload: Upload) throws(PeerError)

    /// Removes what was only there for the server.
    func remove()
}

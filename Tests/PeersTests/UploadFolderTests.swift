import Platform
import Systems
import Testing

@testable import Peers

@Suite struct UploadFolderTests {
    private let hello = Upload(.text, Array("Hello".utf8))
    private let place = Upload(.location, Array("31.2,121.5".utf8))

    @Test func theFolderKeepsEachUploadUnderItsOwnNameAndGoes() throws {
        let folder = try UploadFolder(at: nil)
        try folder.store(hello)
        try folder.store(hello)
        try folder.store(Upload(.image, []))
        for name in ["0001-text.txt", "0002-text.txt", "0003-image.png"] {
            #expect(access("\(folder.path)/\(name)", R_OK) == 0)
        }
        // Another server in the same folder leaves alone what is there.
        let other = try UploadFolder(at: folder.path)
        try other.store(place)
        #expect(access("\(folder.path)/0001-location.txt", R_OK) == 0)
        other.remove()
        #expect(unlink("\(folder.path)/0001-location.txt") == 0, "a folder that was given stays")
        folder.remove()
        #expect(access(folder.path, F_OK) != 0)
        #expect(throws: PeerError.self) { try folder.store(hello) }
        #expect(throws: PeerError.self) { try UploadFolder(at: folder.path) }
    }
}

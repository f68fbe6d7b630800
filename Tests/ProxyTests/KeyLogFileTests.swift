import Foundation
import Synchronization
import Testing

@testable import frametap

/// The file of `--key-log`.
@Suite struct KeyLogFileTests {
    /// HUPs, sent by the test.
    private final class HangUps: Sendable {
        private let received = Mutex(0)

        var count: Int { received.withLock { $0 } }

        func send() { received.withLock { $0 += 1 } }
    }

    /// It is appended to; after a HUP it is a new file if the one before was moved away.
    @Test func aHangUpOpensItAnew() throws {
        let (files, hangUps) = (try Folder(), HangUps())
        _ = try files.write(Array("before\n".utf8), to: "keys")
        let log = try KeyLogFile(appendingTo: files.path("keys")) { hangUps.count }
        log.append(Array("one\n".utf8))
        log.finish()
        try FileManager.default.moveItem(atPath: files.path("keys"), toPath: files.path("moved"))
        log.append(Array("two\n".utf8))
        log.finish()
        hangUps.send()
        log.append(Array("three\n".utf8))
        log.finish()
        #expect(files.text("moved") == "before\none\ntwo\n" && files.text("keys") == "three\n")
        let mode = try FileManager.default.attributesOfItem(atPath: files.path("keys"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    /// What could not be written before is missing; what follows a HUP is written.
    @Test func afterAHangUpWritingIsTriedAgain() throws {
        let (files, hangUps) = (try Folder(), HangUps())
        try FileManager.default.createSymbolicLink(atPath: files.path("keys"), withDestinationPath: "/dev/full")
        let log = try KeyLogFile(appendingTo: files.path("keys")) { hangUps.count }
        log.append(Array("one\n".utf8))
        log.append(Array("two\n".utf8))
        log.finish()
        try FileManager.default.removeItem(atPath: files.path("keys"))
        log.append(Array("three\n".utf8))
        log.finish()
        #expect(!FileManager.default.fileExists(atPath: files.path("keys")))
        hangUps.send()
        log.append(Array("four\n".utf8))
        log.finish()
        #expect(files.text("keys") == "four\n")
    }
}

import Foundation
import Testing

/// The scripts that install frametap, and that lay out what is installed.
@Suite struct InstallTests {
    /// A folder with a space in its name, which is deleted with this.
    private final class Place {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("frametap install-\(UUID())")

        deinit { try? FileManager.default.removeItem(at: url) }

        /// Writes a file, and creates the folders that it is in.
        func write(_ text: String, to name: String, mode: Int = 0o644) throws {
            let file = url.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file.path)
        }

        func has(_ name: String) -> Bool {
            FileManager.default.fileExists(atPath: url.appendingPathComponent(name).path)
        }
    }

    /// Twice, since an upgrade removes what is there: nothing would be left if the new files could not follow.
    @Test func aRelativePrefixIsInTheCallersFolder() throws {
        let place = Place()
        try place.write("#!/bin/sh\necho frametap 0\n", to: "archive/bin/frametap", mode: 0o755)
        try place.write("manual\n", to: "archive/share/man/man1/frametap.1")
        let script = try String(contentsOfFile: "\(Example.root)/packaging/files/install.sh", encoding: .utf8)
        try place.write(script, to: "archive/install.sh")
        func install(_ arguments: String...) throws -> Program.Result {
            try Program.run("sh", ["-c", #"cd "$0" && sh archive/install.sh "$@""#, place.url.path] + arguments)
        }
        for _ in 1...2 {
            let result = try install("to/here")
            #expect(result.status == 0, "\(result.errors)")
            #expect(place.has("to/here/bin/frametap") && place.has("to/here/share/man/man1/frametap.1"))
        }
        let removed = try Program.run(
            "bash",
            [
                "-c", #"cd "$0" && "$1" --remove --prefix to/here"#, place.url.path, "\(Example.root)/scripts/install",
            ])
        #expect(removed.status == 0, "\(removed.errors)")
        #expect(!place.has("to/here/bin/frametap") && !place.has("to/here/share/man/man1/frametap.1"))
    }

    /// What is installed there is removed first: it would be the program itself.
    @Test func theArchivesFolderIsNoPrefix() throws {
        let place = Place()
        try place.write("#!/bin/sh\necho frametap 0\n", to: "archive/bin/frametap", mode: 0o755)
        try place.write("manual\n", to: "archive/share/man/man1/frametap.1")
        // As an installation there that went wrong leaves it.
        try place.write("bin/frametap\nshare/man/man1/frametap.1\n", to: "archive/share/frametap/installed")
        let script = try String(contentsOfFile: "\(Example.root)/packaging/files/install.sh", encoding: .utf8)
        try place.write(script, to: "archive/install.sh")
        for arguments in [["."], ["../archive/"], ["--remove", "."]] {
            let result = try Program.run(
                "sh", ["-c", #"cd "$0/archive" && sh install.sh "$@""#, place.url.path] + arguments)
            #expect(result.status == 64 && result.errors.contains("is the folder of the archive"), "\(result.errors)")
            #expect(place.has("archive/bin/frametap") && place.has("archive/share/man/man1/frametap.1"))
        }
    }

    @Test func aPrefixIsNotEmpty() throws {
        let result = try Program.run("bash", ["\(Example.root)/scripts/install", "--prefix", "", "--remove"])
        #expect(result.status == 64 && result.errors.contains("--prefix needs a folder"), "\(result.errors)")
    }

    /// Licences of packages in folders of any name.
    @Test func licencesAreFoundUnderAnyName() throws {
        _ = try Program.find("python3")
        let place = Place()
        try place.write("one\n", to: "checkouts/a package/LICENSE.txt")
        try place.write("two\n", to: "checkouts/a package/it's other's/NOTICE")
        let result = try Program.run(
            "\(Example.root)/packaging/lay-out",
            [
                try Program.find("frametap").path, place.url.appendingPathComponent("tree").path,
                place.url.appendingPathComponent("checkouts").path,
            ])
        #expect(result.status == 0, "\(result.errors)")
        let licences = place.url.appendingPathComponent("tree/share/doc/frametap/licenses/a package.txt")
        #expect(try String(contentsOf: licences, encoding: .utf8) == "one\ntwo\n")
    }
}

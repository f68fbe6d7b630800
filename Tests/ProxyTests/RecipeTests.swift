import Foundation
import TestSupport
import Testing

/// The recipes of `docs/recipes`: tests in other languages that use the control API, each with a listener of its own.
@Suite struct RecipeTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("docs/recipes").path

    /// Returns what it gets.
    private static let server = """
        import socket, threading
        def serve(sock):
            while data := sock.recv(65536): sock.sendall(data)
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        while True: threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        """

    @Test(arguments: [
        (
            "python3",
            [
                "python3", "-c",
                "import sys; sys.path.insert(0, sys.argv[1]); import test_lost; test_lost.test_a_lost_line_is_missed()",
                folder,
            ]
        ),
        ("javac", ["java", "\(folder)/LostTest.java"]),
        ("curl", ["bash", "\(folder)/lost.sh"]),
        ("clang", ["bash", "-c", "clang -o \"$1/lost\" \"$0/lost.c\" && \"$1/lost\"", folder]),
    ])
    func itWorks(with tool: String, _ recipe: [String]) async throws {
        try Program.need(tool)
        let server = try Program("python3", ["-c", Self.server])
        let port = try await server.match(/(\d+)\n/)
        let proxy = try Program(
            "frametap",
            ["proxy", "--control", "127.0.0.1:0", "--control-token", "t0ken", "--as", "none", "--format", "line"])
        let control = try await proxy.match(/control on (http:\/\/127\.0\.0\.1:\d+)\n/, inErrors: true)
        let folder = try Folder()
        let program = try Program(
            recipe[0], Array(recipe.dropFirst()) + [folder.url.path],
            environment: [
                "CONTROL": control, "TOKEN": "t0ken", "SERVER": "127.0.0.1:\(port)", "PYTHONDONTWRITEBYTECODE": "1",
            ])
        #expect(try await program.exitStatus() == 0, "\(program.errors)\(program.output)")
        server.signal(SIGKILL)
        proxy.signal(SIGTERM)
        _ = try await proxy.exitStatus()
    }
}

/// The client under test: it asks in lines of text, and reads an answer to each.
public struct LineClient {
    private let socket: Socket

    /// A client that is connected.
    public init(host: String, port: Int) throws {
        socket = try Socket(connectedTo: host, port: port)
    }

    /// Greets, and takes the token that the server gives.
    public func login(as name: String) throws -> String {
        try ask("login \(name)")
    }

    /// Sends a line and returns the answer.
    public func ask(_ question: String) throws -> String {
        try socket.write(question + "\n")
        return try socket.readLine()
    }

    /// Takes its leave.
    public func leave() throws {
        try socket.write("quit\n")
        socket.close()
    }
}

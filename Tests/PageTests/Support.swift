import Control
import Foundation
import Framing
import NIOHTTP1
import Packets
import Pipeline
import Proxy
import Streams
import TestSupport
import Testing
import Trace

@testable import Page

/// A capture of the repository.
struct Fixture: CustomTestStringConvertible, Sendable {
    let path: String

    static let root = URL(filePath: #filePath).appending(path: "../../..").standardized.path

    static let all = [
        "im-json/chat.pcap", "im-magic/conversation.pcap", "examples/postgresql.pcap", "examples/redis.pcap",
        "examples/mqtt.pcap", "examples/nats.pcap", "examples/http.pcap", "examples/stomp.pcap",
        "examples/modbus.pcap", "examples/kafka.pcap", "examples/fix.pcap", "examples/smtp.pcap",
        "blame/answered-unanswered.pcap", "blame/network-cut.pcap", "blame/sender-leaves.pcap",
    ].map { Fixture(path: $0) }

    var testDescription: String { path }

    func bytes() throws -> [UInt8] {
        Array(try Data(contentsOf: URL(filePath: "\(Self.root)/fixtures/\(path)")))
    }

    /// What the capture is decoded as. One format is much faster than looking for all of them.
    func options(showsSecrets: Bool = false) throws -> DecodingOptions {
        let parts = path.split(separator: "/")
        let name = String(parts[1].split(separator: ".")[0])
        var format: Format
        switch parts[0] {
        case "examples":
            format = try FormatLoader.load(try #require(ExampleFormats.yaml(of: name)), file: name)
        case "blame":
            let file = name.hasPrefix("answered") ? "pulse-answered" : "pulse"
            let yaml = try String(contentsOfFile: "\(Self.root)/fixtures/blame/\(file).yaml", encoding: .utf8)
            format = try FormatLoader.load(yaml, file: file)
        default:
            format = try FormatLoader.load(try #require(BuiltInFormats.yaml(of: String(parts[0]))), file: name)
        }
        if showsSecrets { format.secrets = [] }
        return DecodingOptions(.fixed(format))
    }
}

/// A trace on a page, with the lines that it should have.
struct ShownTrace: Sendable {
    let page: Page
    /// The lines of a trace with bodies as long as the page keeps them.
    let lines: [TraceLine]
    let text: String
    let router: PageRouter

    private static let made = Made()

    /// The pages that tests share: they only read.
    private actor Made {
        private var pages: [String: Task<ShownTrace, any Error>] = [:]

        func page(_ fixture: Fixture, _ showsSecrets: Bool) async throws -> ShownTrace {
            let key = "\(fixture.path) \(showsSecrets)"
            let task =
                pages[key]
                ?? Task { try await ShownTrace(fixture.bytes(), fixture.options(showsSecrets: showsSecrets)) }
            pages[key] = task
            return try await task.value
        }
    }

    /// Decodes a capture for the page, and as `decode` does.
    init(_ fixture: Fixture, showsSecrets: Bool = false) async throws {
        self = try await Self.made.page(fixture, showsSecrets)
    }

    init(_ capture: [UInt8], _ options: DecodingOptions, makesReport: Bool = false) async throws {
        page = try Page(isLive: false)
        let output = MemoryOutput()
        let writer = NDJSONWriter(to: output, source: "tests", tool: "tests", bodyLimit: FrameDetail.mostBytes)
        let queue = page.queue
        let sink = PageSink(queue, source: "tests", tool: "tests", hasPackets: true, makesReport: makesReport)
        let decoder = Decoder(
            options, analyses: Decoder.allAnalyses(replacing: sink.analyses()), sinks: [writer, sink])
        var reassembled = CaptureDecoder(receiver: decoder)
        var reader = CaptureReader(CaptureBytes(capture), chunk: 1 << 14)
        try reader.read(to: &reassembled)
        reassembled.finish()
        decoder.finish()
        decoder.flush()
        text = output.text
        lines = try traceLines(text)
        router = PageRouter(page: page, safety: Self.safety, actions: nil, capture: nil)
        try await page.waitUntilFinished()
    }

    /// A trace that is read from its lines.
    init(lines text: String) async throws {
        page = try Page(isLive: false)
        let queue = page.queue
        for line in text.split(separator: "\n") {
            if let event = try EventReader.event(of: Array(line.utf8)) { queue.put(PageItem(.event(event))) }
        }
        queue.put(PageItem(.end))
        self.text = text
        lines = try traceLines(text)
        router = PageRouter(page: page, safety: Self.safety, actions: nil, capture: nil)
        try await page.waitUntilFinished()
    }

    static let safety = PageSafety(
        host: "127.0.0.1", at: HostPort(host: "127.0.0.1", port: 8090), token: "token", secret: "secret")
}

extension Page {
    /// Waits until everything that was put into the queue is in the store.
    func waitUntilFinished() async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while !store.read({ $0.isFinished }) {
            try #require(ContinuousClock.now < deadline)
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

extension PageRouter {
    /// The response to a request.
    func response(
        _ target: String, method: HTTPMethod = .GET, headers: [(String, String)] = [], body: [UInt8] = []
    ) async throws -> HTTPResponse {
        let head = HTTPRequestHead(
            version: .http1_1, method: method, uri: target,
            headers: HTTPHeaders([("Host", "127.0.0.1:8090"), ("Cookie", "frametap-8090=secret")] + headers))
        return await answer(try #require(HTTPRequest(head, body: body)))
    }

    /// The JSON of a query.
    func get(_ query: String, _ parameters: [(String, String)] = []) async throws -> JSONValue {
        let pairs = parameters.map { name, value in
            let escaped = value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
            return "\(name)=\(escaped)"
        }
        let response = try await response("/api/v1/page/\(query)?" + pairs.joined(separator: "&"))
        guard response.status == .ok else {
            throw Failure(description: "\(query) \(parameters): \(String(decoding: response.body, as: UTF8.self))")
        }
        return try JSONValue(parsing: response.body.span.bytes)
    }

    /// All rows of a list, once it was searched to its end.
    func rows(_ query: String, _ parameters: [(String, String)] = [], page: Int = 1_000) async throws -> [JSONValue] {
        var rows: [JSONValue] = []
        while true {
            let part = try await get(query, parameters + [("from", "\(rows.count)"), ("count", "\(page)")])
            if part["searched"] != part["events"] { continue }
            rows += part["rows"].items
            if rows.count >= part["total"]?.integer ?? 0 { return rows }
        }
    }

    struct Failure: Error, CustomStringConvertible {
        var description: String
    }
}

extension JSONValue? {
    /// The items of an array; none if it is not one.
    var items: [JSONValue] { if case .array(let items)? = self { items } else { [] } }
    /// The members of an object; none if it is not one.
    var members: [JSONValue.Member] { if case .object(let members)? = self { members } else { [] } }
}

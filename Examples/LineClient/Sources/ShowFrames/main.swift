import FrametapCore

let decoding = try CaptureDecoding(format: "im-json")
for event in try decoding.events(ofFile: CommandLine.arguments[1]) {
    switch event {
    case .frame(let frame): print(frame.time, frame.from, frame.type ?? "-", frame.body["text"]?.text ?? "")
    case .finding(let finding): print(finding.time, finding.message)
    default: break
    }
}

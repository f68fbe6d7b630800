import FrametapCore

let decoding = try CaptureDecoding(format: "im-json")
for event in try decoding.events(ofFile: CommandLine.arguments[1]) {
    switch event {
    case .frame(let frame): print(frame.time.rfc3339, frame.from.sender, frame.type ?? "-", frame.text ?? "")
    case .finding(let finding): print(finding.time.rfc3339, finding.message)
    default: break
    }
}

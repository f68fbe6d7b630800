// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "frametap",
    platforms: [.macOS(.v15)],
    targets: [
        .target(name: "Streams"),
        .target(name: "Expressions", dependencies: ["Streams"]),
        .target(name: "Packets", dependencies: ["Streams"]),
        .testTarget(name: "StreamsTests", dependencies: ["Streams"]),
        .testTarget(name: "ExpressionsTests", dependencies: ["Expressions"]),
        .testTarget(name: "PacketsTests", dependencies: ["Packets"]),
    ],
    swiftLanguageModes: [.v6]
)

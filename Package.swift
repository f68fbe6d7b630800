// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "frametap",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .target(name: "Streams"),
        .target(name: "Expressions", dependencies: ["Streams"]),
        .target(
            name: "Framing", dependencies: ["Streams", "Expressions", "Yams"],
            resources: [.embedInCode("Formats/im-json.yaml")]),
        .target(name: "Trace", dependencies: ["Streams", "Expressions", "Framing"]),
        .target(
            name: "Analysis",
            dependencies: ["Framing", "Trace", .product(name: "HeapModule", package: "swift-collections")]),
        .target(name: "Pipeline", dependencies: ["Analysis", "Framing", "Packets", "Trace"]),
        .target(name: "Packets", dependencies: ["Streams"]),
        .target(
            name: "Peers",
            dependencies: [
                "Streams", "Framing", .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]),
        .testTarget(name: "StreamsTests", dependencies: ["Streams"]),
        .testTarget(name: "ExpressionsTests", dependencies: ["Expressions"]),
        .testTarget(name: "FramingTests", dependencies: ["Framing"]),
        .testTarget(name: "PacketsTests", dependencies: ["Packets"]),
        .testTarget(
            name: "PeersTests",
            dependencies: ["Peers", "Framing", "Streams", .product(name: "NIOEmbedded", package: "swift-nio")]),
    ],
    swiftLanguageModes: [.v6]
)

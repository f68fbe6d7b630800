// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "LineClient",
    platforms: [.macOS(.v15)],
    // As you have it: .package(url: "https://…/frametap", .upToNextMinor(from: "0.1.0"))
    dependencies: [.package(name: "frametap", path: "../..")],
    targets: [
        .target(name: "LineClient"),
        .executableTarget(
            name: "ShowFrames", dependencies: [.product(name: "FrametapCore", package: "frametap")]),
        .executableTarget(
            name: "FrameSizes", dependencies: [.product(name: "FrametapCore", package: "frametap")]),
        .testTarget(
            name: "LineClientTests",
            dependencies: ["LineClient", .product(name: "TraceTesting", package: "frametap")],
            exclude: ["conversation.golden.ndjson"]),
    ],
    swiftLanguageModes: [.v6]
)

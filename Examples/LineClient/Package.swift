// swift-tools-version: 6.1
import PackageDescription

// As you have it: .package(url: "https://…/frametap", .upToNextMinor(from: "0.1.0")). scripts/test --all gives the URL of a commit.
let frametap: Package.Dependency =
    if let url = Context.environment["FRAMETAP_URL"], let commit = Context.environment["FRAMETAP_COMMIT"] {
        .package(url: url, revision: commit)
    } else {
        .package(name: "frametap", path: "../..")
    }

let package = Package(
    name: "LineClient",
    platforms: [.macOS(.v15)],
    dependencies: [frametap],
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

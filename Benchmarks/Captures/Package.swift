// swift-tools-version: 6.1
import PackageDescription

// Apart from the benchmarks, so that scripts/bench and scripts/guard build it in seconds: it depends on nothing.
let package = Package(
    name: "Captures",
    platforms: [.macOS(.v15)],
    products: [.library(name: "Captures", targets: ["Captures"])],
    targets: [
        .target(name: "Captures"),
        .executableTarget(name: "make-capture", dependencies: ["Captures"]),
    ],
    swiftLanguageModes: [.v6]
)

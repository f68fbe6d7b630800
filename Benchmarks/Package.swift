// swift-tools-version: 6.1
import PackageDescription

let package = Package(
    name: "frametap-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "frametap", path: ".."),
        .package(path: "Captures"),
        // Without its traits: they put themselves between a program and malloc, and change what is measured. scripts/guard counts
        // instructions and allocations, from outside.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
    ],
    targets: [
        .executableTarget(
            name: "Decoding",
            dependencies: [
                .product(name: "Benchmark", package: "benchmark"),
                .product(name: "Captures", package: "Captures"),
                .product(name: "FrametapCore", package: "frametap"),
            ],
            path: "Benchmarks/Decoding",
            plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")])
    ],
    swiftLanguageModes: [.v6]
)

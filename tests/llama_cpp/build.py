"""llama.cpp's libraries for the CPU, and figures.cpp with them. Everything is kept below build/llama.cpp."""
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "build" / "llama.cpp"
PACKAGE, VERSION, COMMIT = "llama-cpp-python", "0.3.36", "0c1e5709"  # its CHANGELOG.md names the commit

OFF = ["GGML_NATIVE", "GGML_OPENMP", "GGML_LLAMAFILE", "GGML_CPU_REPACK", "GGML_SSE42", "GGML_AVX", "GGML_AVX2", "GGML_FMA",
       "GGML_F16C", "GGML_BMI2", "LLAMA_BUILD_COMMON", "LLAMA_BUILD_TESTS", "LLAMA_BUILD_TOOLS", "LLAMA_BUILD_EXAMPLES",
       "LLAMA_BUILD_SERVER", "LLAMA_BUILD_APP"]


def source():
    """The source tree inside the source distribution of llama-cpp-python."""
    tree = FOLDER / f"llama_cpp_python-{VERSION}" / "vendor" / "llama.cpp"
    if tree.is_dir():
        return tree
    FOLDER.mkdir(parents=True, exist_ok=True)
    archive = FOLDER / f"llama_cpp_python-{VERSION}.tar.gz"
    if not archive.is_file():
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:",
                        "-d", str(FOLDER), f"{PACKAGE}=={VERSION}"], check=True)
    with tarfile.open(archive) as files:
        files.extractall(FOLDER)
    return tree


def libraries(tree):
    """Unoptimised: nothing is computed with them, and the build takes five minutes of one core."""
    where = FOLDER / "libraries"
    if not (where / "bin" / "libllama.so").exists():
        plain = [f"-DCMAKE_{language}_FLAGS_RELEASE=-O0" for language in ("C", "CXX")]
        subprocess.run(["cmake", "-S", tree, "-B", where, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DBUILD_SHARED_LIBS=ON",
                        *plain, *(f"-D{name}=OFF" for name in OFF)], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmake", "--build", where, "--target", "llama"], check=True, stdout=subprocess.DEVNULL)
    return where


def program():
    """The program `figures`, built again where its source or the libraries are newer."""
    tree = source()
    where, own, built = libraries(tree), Path(__file__).with_name("figures.cpp"), FOLDER / "figures"
    newest = max(each.stat().st_mtime for each in (own, own.with_name("cases.hpp"), where / "bin" / "libllama.so"))
    if built.exists() and built.stat().st_mtime > newest:
        return built
    headers = [f"-I{ROOT}", *(f"-I{tree / each}" for each in ("include", "src", "ggml/include"))]
    names = ["-lllama", "-lggml", "-lggml-base", "-lggml-cpu"]
    subprocess.run(["g++", "-std=c++17", "-O0", *headers, own, "-o", built, f"-L{where / 'bin'}", *names,
                    f"-Wl,-rpath,{where / 'bin'}"], check=True)
    return built

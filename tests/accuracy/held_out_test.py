#!/usr/bin/env python3
"""The protocol of hold-outs on made-up sets: held_out_test.py PROGRAM. The rows are of the fit, so nobody looks at others."""
import csv
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
SCRIPT = str(HERE / "held_out.py")
failed = 0


def expect(true, what):
    global failed
    if not true:
        print(f"failed: {what}")
        failed += 1


def run(folder, *arguments):
    done = subprocess.run([sys.executable, "-B", SCRIPT, "--folder", str(folder), *arguments], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def git(folder, *arguments):
    subprocess.run(["git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@localhost", *arguments], check=True,
                   capture_output=True)


def prepare(folder):
    """20 rows of speed as one set, and one source for each half as another."""
    for path in ("canonical/held_out", "held_out/models"):
        (folder / path).mkdir(parents=True)
    with open(HERE / "canonical/decode_speed.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    with open(folder / "canonical/held_out/decode_speed.csv", "w", newline="") as file:
        out = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        out.writeheader()
        out.writerows(rows[:20])
    first, last = (row["id"].rsplit("-", 1)[1] for row in (rows[0], rows[19]))
    (folder / "held_out/sets.tsv").write_text("set\ttable\tprefix\tfirst\tlast\thalved_by\twhat\n"
                                              f"speeds\tdecode_speed\tdecode_speed\t{first}\t{last}\t\tmade up\n"
                                              "2026\tfit_labels\tfit\t1\t9\tsource\tmade up\n")
    (folder / "held_out/looks.tsv").write_text("date\tcommit\tset\tgroup\trows\tscored\tmedian\tp90\tinside\twrong\tundecided\twhy\n")
    (folder / "held_out/fit_labels.csv").write_text("id,source\nfit-1,odd-0\n")
    (folder / "README.md").write_text("Looks:\n<!-- looks -->\n<!-- end of looks -->\n")
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "rows")
    return rows[0]["id"]


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    _, out, _ = run(HERE, "half", "a", "d", "github:o/n@1f:x", "github:o/n@1f:y", "github:o/n@1f")
    halves = [line.split("\t")[0] for line in out.splitlines()]
    # SHA-256 of "a" begins with c, of "d" with 1.
    expect(halves[:2] == ["fit", "held_out"], f"halves of a and d: {halves}")
    expect(len(set(halves[2:])) == 1, "files of one repository are in one half")
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        row = prepare(folder)
        sources = {run(folder, "half", f"odd-{i}")[1].split("\t")[0]: f"odd-{i}" for i in range(9)}
        expect(run(folder, "check")[0] == 1, "a README without the table is wrong")
        (folder / "held_out/fit_labels.csv").write_text(f"id,source\nfit-1,{sources['held_out']}\n")
        code, out, _ = run(folder, "check", "--write")
        expect((code, out) == (0, ""), f"all as it should be: {out}")
        expect("| speeds | 20 | 0 | never |" in (folder / "README.md").read_text(), "no look yet")
        (folder / "held_out/fit_labels.csv").write_text(f"id,source\nfit-1,{sources['fit']}\n")
        expect("belongs to the other half" in run(folder, "check")[1], "a source in the wrong half")

        code, _, err = run(folder, "score", program, "--why", "a test", "--set", "speeds")
        expect(code == 1 and "not everything is committed" in err, f"rows that are not committed: {err}")
        git(folder, "commit", "-q", "-a", "-m", "labels")
        expect(run(folder, "score", program, "--why", " ", "--set", "speeds")[0] == 1, "a look without a reason")
        code, _, err = run(folder, "score", program, "--why", "a test", "--set", "speed")
        expect(code == 1 and "known: speeds, 2026" in err, f"an unknown set: {err}")

        for number, why in enumerate(("a test", "a second test"), 1):
            code, out, err = run(folder, "score", program, "--why", why, "--set", "speeds")
            expect(code == 0 and "\tspeeds\t" in out, f"a look: {err}")
            expect(row not in out + err, "a look prints groups, not rows")
            looks = (folder / "held_out/looks.tsv").read_text().splitlines()[1:]
            expect(looks and all(look.endswith(("\ta test", "\ta second test")) for look in looks), "looks have their reasons")
            expect(f"| speeds | 20 | {number} | 2" in (folder / "README.md").read_text(), f"{number} looks are counted")
        text = (folder / "held_out/sets.tsv").read_text()
        (folder / "held_out/sets.tsv").write_text(text.replace("decode_speed\tdecode_speed", "decode_speed\tother"))
        expect("in no set" in run(folder, "check")[1], "a row without a set")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

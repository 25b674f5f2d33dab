"""The man pages: no warnings, every option of every command, every variable of the environment.

    python3 man_test.py ELC SOURCE_ROOT GENERATED_PAGE...
"""
import os
import re
import shutil
import subprocess
import sys

ELC, ROOT, *GENERATED = sys.argv[1:]
faults = []


def read(*path):
    with open(os.path.join(ROOT, *path)) as file:
        return file.read()


def options(text):
    return set(re.findall(r"(?<![\w-])--?[a-z][\w-]*", text))


pages = [os.path.join(ROOT, "man", name) for name in sorted(os.listdir(os.path.join(ROOT, "man")))
         if re.fullmatch(r".*\.[137]", name)]
for path in pages + GENERATED:
    if shutil.which("groff") is not None:
        done = subprocess.run(["groff", "-mandoc", "-Tutf8", "-ww", "-z", path], capture_output=True, text=True)
        faults += done.stderr.splitlines()

for command in ("run", "ls", "show", "diff", "doctor", "export", "plot", "verify", "rm"):
    shown = options(subprocess.run([ELC, command, "--help"], check=True, capture_output=True, text=True).stdout)
    # The example at the end of the help of run has options of a program of its own.
    shown -= {"-h", "--help", "--its-options"}
    page = read("man", "elc-%s.1" % command)
    documented = {"-" + word for word in re.findall(r"Fl (-?[a-z][\w-]*)", page)}
    documented |= {"-" + word for word in re.findall(r"Fl \S+ , Fl (-[a-z][\w-]*)", page)}
    faults += ["elc-%s.1 says nothing of %s" % (command, option) for option in sorted(shown - documented)]

page = read("man", "elc.7")
for name in sorted(set(re.findall(r'"(ELC_[A-Z_]+)"', read("src", "base", "config.cc")))):
    if ".It Ev " + name + "\n" not in page:
        faults.append("elc.7 says nothing of " + name)

page = read("man", "elc.3")
for name in sorted(set(re.findall(r"^[\w ]+[ *](ELC_\w+)\(", read("include", "elc.h"), re.M))):
    if name not in page:
        faults.append("elc.3 says nothing of " + name)

print("\n".join(faults))
sys.exit(1 if faults else 0)

"""Makes wheels without content but a name: python3 tiny-wheels.py FOLDER NAME..."""
import sys, zipfile

folder, *names = sys.argv[1:]
for name in names:
    module = name.replace("-", "_")
    facts = f"{module}-1.0.dist-info"
    texts = {
        f"{module}.py": f"NAME = 'tiny {name}'\n",
        f"{facts}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n",
        f"{facts}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{path},,\n" for path in [*texts, f"{facts}/RECORD"])
    with zipfile.ZipFile(f"{folder}/{module}-1.0-py3-none-any.whl", "w") as wheel:
        for path, text in {**texts, f"{facts}/RECORD": record}.items():
            wheel.writestr(path, text)

"""Live many worlds of several partitions, each drawn from a seed; those that held are not lived again.

python bench/parted.py --seed 1 --worlds 50 --resume .soak/parted.jsonl
python bench/parted.py --seed 1 --worlds 50 --kept --resume .soak/kept.jsonl
python bench/parted.py --seed 1 --worlds 50 --backed-up --resume .soak/backed-up.jsonl
"""

import argparse
import json
import time
from pathlib import Path

from evercrawl.simulate.parted.parted import simulate_parted
from evercrawl.simulate.parted.plan import drawn_backed_up, drawn_kept, drawn_parted


def main() -> int:
    """Live them; return 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worlds", type=int, default=10)
    surroundings = parser.add_mutually_exclusive_group()
    surroundings.add_argument("--kept", action="store_true", help="let partitions have keepers, and lose disks")
    surroundings.add_argument("--backed-up", action="store_true", help="let partitions be backed up while they run")
    parser.add_argument(
        "--resume", type=Path, help="keep worlds that held in this file, and leave out those that it has"
    )
    args = parser.parse_args()
    held = set[int]()
    if args.resume is not None and args.resume.is_file():
        held = {json.loads(line)["seed"] for line in args.resume.read_text().splitlines()}
    drawn = drawn_kept if args.kept else drawn_backed_up if args.backed_up else drawn_parted
    broken = lived = 0
    for seed in range(args.seed, args.seed + args.worlds):
        if seed in held:
            continue
        began, world = time.process_time(), drawn(seed)
        result = simulate_parted(world)
        lived += 1
        row = {
            "seed": seed, "parts": world.parts, "visits": result.visits, "letters": result.letters,
            "lives": result.lives, "lost": result.lost, "doubled": result.doubled, "blows": dict(result.blows),
            "opened": result.opened, "cut": result.cut, "cpu_s": round(time.process_time() - began, 2),
        }  # fmt: skip
        print(json.dumps(row), flush=True)
        for sentence in result.wrong[:5]:
            print(f"seed {seed} is broken: {sentence}", flush=True)
        broken += bool(result.wrong)
        if args.resume is not None and not result.wrong:
            args.resume.parent.mkdir(parents=True, exist_ok=True)
            with args.resume.open("a") as file:
                file.write(json.dumps(row) + "\n")
    print(f"{lived} worlds lived, {args.worlds - lived} kept from before, {broken} broken")
    return int(broken > 0)


if __name__ == "__main__":
    raise SystemExit(main())

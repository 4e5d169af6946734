"""The same program in a made-up world: a clock that jumps, a network and a disk that fail on command."""

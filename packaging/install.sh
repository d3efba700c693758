#!/bin/sh
# Installs ralph from an archive of a release, after its checksum was compared.
#
#   install.sh --from PLACE [--version V] [--to DIR]
#
# PLACE is a folder, or the URL below which the archives and SHA256SUMS lie.
# Nothing outside of DIR (default ~/.local) is touched.
set -eu

version="@VERSION@"
from="${RALPH_RELEASES:-}"
to="${HOME:-}/.local"

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case "$1" in
    --from) from="${2:?--from needs a place}"; shift 2 ;;
    --version) version="${2:?--version needs a number}"; shift 2 ;;
    --to) to="${2:?--to needs a folder}"; shift 2 ;;
    -h | --help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "$1 is not known; see --help" ;;
  esac
done
[ -n "$from" ] || fail "say where the release lies: --from PLACE, or RALPH_RELEASES"
[ "$to" != "/.local" ] || fail "there is no home directory; say where to: --to DIR"

case "$(uname -s)" in
  Linux) system=unknown-linux-musl ;;
  Darwin) system=apple-darwin ;;
  *) fail "there is no build for $(uname -s); on Windows use npm or the zip" ;;
esac
case "$(uname -m)" in
  x86_64 | amd64) machine=x86_64 ;;
  aarch64 | arm64) machine=aarch64 ;;
  *) fail "there is no build for $(uname -m)" ;;
esac
name="ralph-$version-$machine-$system"

dir="$(mktemp -d)"
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM

get() {
  case "$from" in
    http://* | https://*)
      if command -v curl >/dev/null; then
        curl -fsSL --proto '=https,http' -o "$dir/$1" "$from/$1"
      elif command -v wget >/dev/null; then
        wget -q -O "$dir/$1" "$from/$1"
      else
        fail "curl or wget is needed"
      fi
      ;;
    *) cp "$from/$1" "$dir/$1" ;;
  esac
}

get SHA256SUMS || fail "$from/SHA256SUMS can't be had"
get "$name.tar.gz" || fail "$from/$name.tar.gz can't be had"

if command -v sha256sum >/dev/null; then
  sum="$(sha256sum "$dir/$name.tar.gz")"
else
  sum="$(shasum -a 256 "$dir/$name.tar.gz")"
fi
sum="${sum%% *}"
grep -q "^$sum  $name.tar.gz\$" "$dir/SHA256SUMS" ||
  fail "the checksum of $name.tar.gz is not the one in SHA256SUMS; nothing was installed"

tar -xzf "$dir/$name.tar.gz" -C "$dir"
mkdir -p "$to/bin" "$to/share/man/man1"
# A program that runs can't be written over, but be replaced.
cp "$dir/$name/ralph" "$to/bin/.ralph.new"
chmod 755 "$to/bin/.ralph.new"
mv -f "$to/bin/.ralph.new" "$to/bin/ralph"
cp "$dir/$name"/man/*.1 "$to/share/man/man1/"

"$to/bin/ralph" --version
case ":${PATH:-}:" in
  *":$to/bin:"*) ;;
  *) echo "$to/bin is not on PATH: add it" ;;
esac

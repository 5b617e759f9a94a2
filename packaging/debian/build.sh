#!/bin/sh
# Make a .deb of a wheel, for the distribution that this runs on:
#   packaging/debian/build.sh dist/mnemark-0.1.0-py3-none-any.whl dist [EXTRAS]
# The program lies in /opt/mnemark with all that it needs (so it fits this version of Python and this processor),
# with a link in /usr/bin and a systemd unit for users. It needs python3-venv and dpkg-deb to be made.
set -eu
wheel=$(realpath "$1")
out=$(realpath "$2")
extras=${3-serve,tui,documents}
here=$(dirname "$(realpath "$0")")
python=${PYTHON-/usr/bin/python3}

version=$(basename "$wheel" | cut -d - -f 2)
minor=$("$python" -c 'import sys; print(sys.version_info.minor)')
arch=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 0755 "$root"

"$python" -m venv "$root/opt/mnemark"
"$root/opt/mnemark/bin/python" -m pip install --quiet --disable-pip-version-check "$wheel${extras:+[$extras]}"
# Made here, used in /opt: what names the place is corrected, and the code compiled for it.
grep -rlI "$root" "$root/opt/mnemark/bin" "$root/opt/mnemark/pyvenv.cfg" | xargs sed -i "s|$root||g"
find "$root/opt/mnemark" -name direct_url.json -delete
"$root/opt/mnemark/bin/python" -m compileall -q -f -s "$root" -p / "$root/opt/mnemark/lib" || true

install -D -m 0644 "$here/../systemd/mnemark.service" "$root/usr/lib/systemd/user/mnemark.service"
install -D -m 0644 "$here/../../LICENSE" "$root/usr/share/doc/mnemark/copyright"
install -d "$root/usr/bin" "$root/DEBIAN"
ln -s /opt/mnemark/bin/mnemark "$root/usr/bin/mnemark"
cat > "$root/DEBIAN/control" <<END
Package: mnemark
Version: $version
Architecture: $arch
Maintainer: mnemark
Depends: python3 (>= 3.$minor), python3 (<< 3.$((minor + 1)))
Installed-Size: $(du -sk "$root" | cut -f 1)
Section: utils
Priority: optional
Description: memory for LLM agents
 A folder of plain text, found again in milliseconds, offline, in Chinese and English.
 Memories lie in the folders of users; removing the package leaves them as they are.
END
dpkg-deb --root-owner-group --build "$root" "$out/mnemark_${version}_$arch.deb"

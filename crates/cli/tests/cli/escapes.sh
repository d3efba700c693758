# Each line tries to get out from behind the wall, and says so where it does.
export TOP=root
n=0; try() { n=$((n+1)); if sh -c "$1" >/dev/null 2>&1; then echo "OPEN $n: $1"; fi; }
try 'echo x > "$BAIT"; grep -q x "$BAIT" && ! test -e /run/ralph/door'
try 'grep -q s3cret "$REAL/secret"'
try 'grep -q s3cret ~/secret'
try 'cat ~/.ssh/id_ed25519'
try 'cat ~/.aws/credentials'
try 'cat ~/.config/gh/hosts.yml'
try 'cat ~/.npmrc | grep -q npm_s3cret'
try 'ls "$STATE"/projects'
try 'ls ~/.local/state/ralph/projects'
try 'touch /usr/ralph-was-here'
try 'touch /etc/ralph-was-here'
try 'touch /var/ralph-was-here'
try 'touch /opt/ralph-was-here'
try 'touch /ralph-was-here'
try 'mkdir /sys/fs/cgroup/ralph-was-here'
try 'cat /proc/sys/kernel/hostname > /proc/sys/kernel/hostname'
try 'cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness'
try 'echo h > /proc/sysrq-trigger'
try 'mount -t tmpfs none /mnt'
try 'mount -o remount,rw /'
try 'mount -o remount,rw,bind /usr'
try 'umount /tmp'
try 'umount -l "$HOME"'
try 'umount -l /run'
try 'mknod /tmp/disk b 8 0 && cat /tmp/disk'
try 'cat /dev/sda || cat /dev/vda || cat /dev/mem'
try 'grep -q s3cret /proc/*/$TOP/'"$REAL"'/secret'
try 'test $(ls -d /proc/[0-9]* | wc -l) -gt 40'
try 'kill -0 $OUTER'
try 'cat /proc/$OUTER/environ'
try 'nsenter -t 1 -m true'
try 'chroot / true'
try 'su -c true'
try 'sudo -n true'
try 'systemd-run --user --wait true'
try 'dbus-send --session --print-reply --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames'
try 'docker ps'
try 'ls /run/user/*'
try 'test -n "$SSH_AUTH_SOCK"'
try 'tmux -S "$REAL/tmux" ls'
try 'echo "#!/bin/sh" > .git/hooks/pre-commit'
try 'rm -rf .git/hooks'
try 'git config core.hooksPath /tmp'
try 'git config --file .git/config core.fsmonitor /tmp/x'
try 'mv .git .git-old'
try 'mv .git/config .git/config-old'
try 'ln -sf /tmp/evil .git/config'
try 'echo "{}" > .claude/settings.json'
try 'mv .claude .claude-old'
try 'rm -rf .claude/settings.json'
try 'echo "[verify]" >> .ralph/config.toml'
try 'unshare -Urm sh -c "umount -l $HOME; grep -q s3cret $REAL/secret"'
try 'unshare -Urm sh -c "umount -l /run/ralph; umount -l /run; ls /run/user"'
try 'unshare -Urm sh -c "mount -o remount,rw,bind / / && touch /usr/ralph-was-here"'
try 'cat < /dev/tcp/127.0.0.1/'"$PORT"
try 'curl -sf --noproxy "*" -m 3 http://127.0.0.1:'"$PORT"
try 'curl -sf --noproxy "*" -m 3 http://[::1]:'"$PORT"
try 'curl -sf -m 3 -x "$HTTP_PROXY" http://127.0.0.1:'"$PORT"
try 'curl -sf -m 3 -x "$HTTP_PROXY" http://localhost:'"$PORT"
try 'curl -sf -m 3 -x "$HTTP_PROXY" http://0.0.0.0:'"$PORT"
try 'curl -sf -m 3 -x "$HTTP_PROXY" http://127.1:'"$PORT"
try 'curl -sf -m 3 -x "$HTTP_PROXY" http://2130706433:'"$PORT"
try 'curl -sf -m 3 -p -x "$HTTP_PROXY" http://127.0.0.1:'"$PORT"
try 'curl -sf -m 3 -p -x "$HTTP_PROXY" http://user@127.0.0.1:'"$PORT"
try 'curl -sf -m 3 -p -x "$HTTP_PROXY" "http://[::ffff:127.0.0.1]:'"$PORT"'"'
try 'curl -sf -m 3 -p -x "$HTTP_PROXY" http://localhost'
try 'curl -sf -m 3 -x "$HTTP_PROXY" -H "Host: pypi.org" http://127.0.0.1:'"$PORT"
try 'curl -sf -m 3 -p -x "$HTTP_PROXY" http://pypi.org:22'
try 'curl -sf -m 3 -x "$HTTP_PROXY" ftp://pypi.org/'
try 'curl -sf -m 3 -x "$HTTP_PROXY" http://evil.example/'
try 'curl -sf -m 3 --unix-socket "$STATE/run/wall-"* http://evil.example/'
try 'ping -c 1 -W 1 192.0.2.1'
try 'ip route get 192.0.2.1'
try 'ip link add x type dummy'
try "$RALPH stop"
try "$RALPH run x"
try "$RALPH trust --yes"
try "$RALPH sandbox -- true"
echo "TRIED $n"

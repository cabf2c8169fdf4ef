#!/usr/bin/env bash
# A SLURM of one node on loopback, for tests: as root, without systemd, with state and logs in a folder of its own.
#
#   start.sh FOLDER                 start what does not run yet; prints the line that shells need to use it
#   start.sh FOLDER stop            cancel its jobs and stop the daemons that were started in this folder, no others
#   ACCOUNTING=1 start.sh FOLDER    with slurmdbd on a MariaDB of its own
#
# Needs slurmctld, slurmd and munged (Debian: slurm-wlm munge; with accounting slurmdbd mariadb-server too).
# NODE_CPUS and NODE_MB say what the node claims to have: nothing is reserved on the machine.
set -euo pipefail

FOLDER=$(realpath -m "${1:?usage: start.sh FOLDER [stop]}")
ACTION=${2:-start}
ACCOUNTING=${ACCOUNTING:-0}
RUN=$FOLDER/run
HOST=$(hostname -s)
SYSTEM_CONF=/etc/slurm/slurm.conf
export SLURM_CONF=$FOLDER/slurm.conf

fail() { echo "start.sh: $*" >&2; exit 1; }
pid_of() { cat "$RUN/$1.pid" 2>/dev/null || true; }

# A process number alone may have been given again: it has to be the daemon, too, and not what nobody has waited for.
lives() {
    local pid
    pid=$(pid_of "$1")
    [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$1" ] && ! grep -q '^State:.*zombie' "/proc/$pid/status"
}

wait_until() { # SECONDS COMMAND...
    local turns=$(($1 * 5))
    shift
    for _ in $(seq "$turns"); do
        "$@" >/dev/null 2>&1 && return 0
        sleep 0.2
    done
    return 1
}

gone() { ! lives "$1"; }
no_jobs() { [ -z "$(squeue -h -t all -o %T | grep -Ev 'COMPLETED|CANCELLED|FAILED|TIMEOUT|NODE_FAIL|OUT_OF_MEMORY')" ]; }

stop_daemon() {
    lives "$1" || return 0
    kill "$(pid_of "$1")"
    wait_until 20 gone "$1" || kill -9 "$(pid_of "$1")"
}

stop() {
    if lives slurmctld && scontrol ping >/dev/null 2>&1; then
        scancel --partition=main || true
        wait_until 200 no_jobs || echo "start.sh: some jobs have not ended" >&2
    fi
    for daemon in slurmd slurmctld slurmdbd mariadbd munged; do stop_daemon "$daemon"; done
    if [ "$(readlink "$SYSTEM_CONF" || true)" = "$SLURM_CONF" ]; then rm "$SYSTEM_CONF"; fi
}

free_ports() { # three of them, which nothing listens on now
    python3 - <<'PYTHON'
import socket

held = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
print(*(each.getsockname()[1] for each in held))
PYTHON
}

# Job steps are started without SLURM_CONF, so the configuration has to be found at its usual place as well.
link_configuration() {
    local target folder
    target=$(readlink "$SYSTEM_CONF" || true)
    [ "$target" = "$SLURM_CONF" ] && return 0
    folder=$(dirname "$target")
    # Left behind by a folder that is gone, or one of this script's whose daemons were killed.
    if [ -n "$target" ] && { [ ! -e "$target" ] ||
        { [ -s "$folder/munge.key" ] && [ -s "$folder/ports" ] && ! RUN=$folder/run lives munged; }; }; then
        rm "$SYSTEM_CONF"
    fi
    [ -e "$SYSTEM_CONF" ] && fail "$SYSTEM_CONF exists: this machine has a SLURM already, which is left alone"
    mkdir -p "$(dirname "$SYSTEM_CONF")"
    ln -s "$SLURM_CONF" "$SYSTEM_CONF"
}

start_munge() { # with a key and a socket of its own
    if [ ! -s "$FOLDER/munge.key" ]; then
        (umask 077 && head -c 1024 /dev/urandom >"$FOLDER/munge.key")
    fi
    if ! lives munged; then
        rm -f "$RUN"/munge.socket*
        munged --force --num-threads=2 --key-file="$FOLDER/munge.key" --socket="$RUN/munge.socket" \
            --pid-file="$RUN/munged.pid" --seed-file="$RUN/munge.seed" --log-file="$FOLDER/log/munged.log"
    fi
    wait_until 200 munge -n -S "$RUN/munge.socket" || fail "munged does not answer: see $FOLDER/log/munged.log"
}

write_configuration() {
    local controller node database
    [ -s "$FOLDER/ports" ] || free_ports >"$FOLDER/ports"
    read -r controller node database <"$FOLDER/ports"
    local cpus=${NODE_CPUS:-$(nproc)} memory=${NODE_MB:-32000}
    cat >"$SLURM_CONF" <<CONF
ClusterName=mklearn
SlurmctldHost=$HOST(127.0.0.1)
SlurmctldPort=$controller
SlurmdPort=$node
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$RUN/munge.socket
CredType=cred/munge
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation=$FOLDER/state
SlurmdSpoolDir=$FOLDER/spool
SlurmctldPidFile=$RUN/slurmctld.pid
SlurmdPidFile=$RUN/slurmd.pid
SlurmctldLogFile=$FOLDER/log/slurmctld.log
SlurmdLogFile=$FOLDER/log/slurmd.log
# No control groups: a job is its process group, and measured once a second, so that one over its memory ends.
ProctrackType=proctrack/pgid
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerType=sched/backfill
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,bf_interval=5
SlurmdParameters=config_overrides
ReturnToService=2
MinJobAge=7200
MessageTimeout=100
KillWait=3
CompleteWait=0
InactiveLimit=0
EnforcePartLimits=ALL
NodeName=$HOST NodeAddr=127.0.0.1 CPUs=$cpus RealMemory=$memory State=UNKNOWN
PartitionName=main Nodes=$HOST Default=YES MaxTime=INFINITE DefMemPerCPU=500 State=UP
CONF
    if [ "$ACCOUNTING" = 1 ]; then
        cat >>"$SLURM_CONF" <<CONF
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$database
AccountingStoragePass=$RUN/munge.socket
CONF
        (umask 077 && cat >"$FOLDER/slurmdbd.conf") <<CONF
AuthType=auth/munge
AuthInfo=socket=$RUN/munge.socket
DbdAddr=127.0.0.1
DbdHost=$HOST
DbdPort=$database
SlurmUser=root
LogFile=$FOLDER/log/slurmdbd.log
PidFile=$RUN/slurmdbd.pid
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=root
StorageLoc=slurm_acct_db
CONF
    fi
}

start_accounting() {
    local data=$FOLDER/database socket=$RUN/mariadbd.sock
    mkdir -p "$data"
    if [ ! -d "$data/mysql" ]; then
        mariadb-install-db --no-defaults --user=root --datadir="$data" --auth-root-authentication-method=socket \
            --skip-test-db >"$FOLDER/log/mariadb-install.log" 2>&1
    fi
    if ! lives mariadbd; then
        setsid mariadbd --no-defaults --user=root --datadir="$data" --socket="$socket" --pid-file="$RUN/mariadbd.pid" \
            --skip-networking --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 \
            --log-error="$FOLDER/log/mariadbd.log" </dev/null >/dev/null 2>&1 &
    fi
    wait_until 300 mariadb-admin --no-defaults --socket="$socket" -u root ping || fail "MariaDB does not answer"
    mariadb --no-defaults --socket="$socket" -u root -e "CREATE DATABASE IF NOT EXISTS slurm_acct_db"
    lives slurmdbd || MYSQL_UNIX_PORT=$socket slurmdbd
    wait_until 300 sacctmgr -n list cluster || fail "slurmdbd does not answer: see $FOLDER/log/slurmdbd.log"
    [ -n "$(sacctmgr -n list cluster mklearn)" ] || sacctmgr -i -Q add cluster mklearn
    [ -n "$(sacctmgr -n list account tests)" ] || sacctmgr -i -Q add account tests Description=tests Organization=tests
    [ -n "$(sacctmgr -n list association user=root account=tests)" ] || sacctmgr -i -Q add user root account=tests
}

node_ready() { sinfo -h -o %T | grep -qE '^(idle|mixed|allocated)$'; }

start() {
    [ "$(id -u)" = 0 ] || fail "needs root"
    for program in slurmctld slurmd munged; do
        command -v "$program" >/dev/null || fail "there is no $program (Debian: apt-get install slurm-wlm munge)"
    done
    getent hosts "$HOST" >/dev/null || fail "the host name $HOST does not resolve; add '127.0.0.1 $HOST' to /etc/hosts"
    umask 022
    mkdir -p "$RUN" "$FOLDER"/{state,spool,log}
    if ! lives slurmctld && ! lives slurmd; then write_configuration; fi
    link_configuration
    start_munge
    if [ "$ACCOUNTING" = 1 ]; then start_accounting; fi
    lives slurmctld || slurmctld
    wait_until 300 scontrol ping || fail "slurmctld does not answer: see $FOLDER/log/slurmctld.log"
    lives slurmd || slurmd
    if ! wait_until 60 node_ready; then
        scontrol update nodename="$HOST" state=resume || true
        wait_until 300 node_ready || fail "the node is not ready: see $FOLDER/log/slurmd.log"
    fi
    echo "export SLURM_CONF=$SLURM_CONF"
}

case $ACTION in
start) start ;;
stop) stop ;;
*) fail "the second word is 'stop' or nothing; found '$ACTION'" ;;
esac

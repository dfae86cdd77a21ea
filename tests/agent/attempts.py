"""Every way in which a program of the product can be told to read or write a file, or to start another program.

SECRET stands for a file that anybody may read and write, TARGET for one that is not there in a folder where anybody
may make it, SCRIPT for a program that makes TARGET. A program without any is listed with nothing.
"""

import shlex

_TEXT: dict[str, str] = {
    "ping": "",
    "tracepath": "",
    "traceroute": "-n -A 127.0.0.1",
    "qperf": "",
    "bing": "",
    "pathload_snd": "",
    "pathrate_snd": "",
    "squeue": "",
    "scancel": "--ctld SECRET",
    "osu_*": "SECRET",
    "bt.*": "SECRET",
    "mtr": """
        -r -n -c 1 -F SECRET 127.0.0.1
        -r -n -c 1 --filename SECRET 127.0.0.1
        -r -n -c 1 --filename=SECRET 127.0.0.1
        -r -n -c 1 --filen=SECRET 127.0.0.1
        -rnc1 -FSECRET 127.0.0.1
        -rnFSECRET -c 1 127.0.0.1
        127.0.0.1 -r -n -c 1 -F SECRET
        -r -n -c 1 -z 127.0.0.1
        -r -n -c 1 --aslookup 127.0.0.1""",
    "iperf3": """
        -s -1 -p 5301 --logfile TARGET
        -s -1 -p 5302 --logfile=TARGET
        -s -1 -p 5303 --logf TARGET
        -s -1 -p 5304 --pidfile TARGET
        -s -1 -p 5305 -I TARGET
        -s -1 -p 5306 -ITARGET
        -s -D -p 5307 --logfile TARGET
        -s -1 -p 5308 --rsa-private-key-path SECRET --authorized-users-path SECRET
        -c 127.0.0.1 -p 5309 --username x --rsa-public-key-path SECRET
        -c 127.0.0.1 -p 5309 -F SECRET
        -c 127.0.0.1 -p 5309 --file SECRET
        -c 127.0.0.1 -p 5309 --file=SECRET
        -c 127.0.0.1 -p 5309 -JFSECRET
        -c 127.0.0.1 -p 5309 --server-skew-threshold SECRET""",
    "iperf": """
        -c 127.0.0.1 -p 5310 -F SECRET
        -c 127.0.0.1 -p 5310 --fileinput SECRET
        -c 127.0.0.1 -p 5310 -I
        -s -p 5311 -o TARGET
        -s -p 5312 --output TARGET
        -s -p 5313 -D""",
    "nuttcp": """
        -t -s 127.0.0.1
        -S -P 5314 --nofork
        -r -s 127.0.0.1
        -P 5314 -i 192.0.2.1
        -P 5314 -T 192.0.2.1
        -P 5314 -w 192.0.2.1
        -P 5314 -R 192.0.2.1
        -P 5314 -n 192.0.2.1""",
    "netperf": """
        -H 127.0.0.1 -p 5315 -F SECRET
        -H 127.0.0.1 -p 5315 -FSECRET
        -H 127.0.0.1 -p 5315 -t OMNI -- -k SECRET
        -H 127.0.0.1 -p 5315 -t OMNI -- -o SECRET
        -H 127.0.0.1 -p 5315 -t OMNI -- -O SECRET""",
    "netserver": "-D -p 5316 -Z SECRET",
    "sockperf": """
        server -f SECRET
        server --file SECRET
        server --load-vma=SECRET
        server --vmazcopyread SECRET
        ping-pong -i 127.0.0.1 -t 1 --full-log TARGET
        playback -i 127.0.0.1 --data-file SECRET
        ping-pong -f SECRET -t 1""",
    "irtt": """
        client -d 100ms -o TARGET 127.0.0.1
        client -d 100ms -oTARGET 127.0.0.1
        client -d 100ms -o=TARGET 127.0.0.1
        client -d 100ms -o d:TARGET 127.0.0.1
        bench -o TARGET""",
    "pchar": """
        -w TARGET 127.0.0.1
        -r SECRET 127.0.0.1
        -nwTARGET 127.0.0.1""",
    "pathload_rcv": """
        -s 127.0.0.1 -o TARGET
        -s 127.0.0.1 -O TARGET
        -s 127.0.0.1 -N TARGET""",
    "pathrate_rcv": """
        -s 127.0.0.1 -o TARGET
        -s 127.0.0.1 -O TARGET
        -s 127.0.0.1 -N TARGET""",
    "df": "-B1 --output=source -- SECRET",
    "rm": """
        -rf -- SECRET
        -rf SECRET
        -rf -- {work}/../../../others""",
    "cp": """
        SECRET {work}/copy
        SECRET /dev/stdout
        /dev/null TARGET
        -t TARGET /dev/null
        --target-directory=TARGET /dev/null""",
    "dd": """
        if=SECRET
        if=/dev/zero of=TARGET count=1
        of=TARGET""",
    "fincore": "--bytes -- SECRET",
    "grep": """
        -r secret SECRET
        -hE . SECRET
        -f SECRET /dev/null""",
    "python3": """
        -c 'print(open("SECRET").read())'
        -c 'open("TARGET","w").write("x")'
        SECRET
        -m http.server --directory /
        -m mpi4py.bench pingpong SECRET
        -m mpi4py.run SCRIPT""",
    "fio": """
        --name=x --filename=TARGET --size=4k --rw=write
        --name=x --filename=SECRET --size=4k --rw=write
        --name=x --directory=/tmp --size=4k --rw=write
        --name=x --directory={work}:/tmp --size=4k --rw=write --numjobs=2
        --name=x --size=4k --rw=write --exec_prerun=SCRIPT
        --name=x --size=4k --rw=write --exec_postrun=SCRIPT
        --name=x --size=4k --rw=write --ioengine=external:SCRIPT
        --name=x --size=4k --rw=write --ioengine=SCRIPT
        --name=x --size=4k --rw=write --write_bw_log=TARGET
        --name=x --size=4k --rw=write --write_iolog=TARGET
        --name=x --size=4k --rw=write --output=TARGET
        --name=x --read_iolog=SECRET
        --name=x --size=4k --rw=write --verify_pattern="SECRET"
        --name=x --size=4k --rw=write --buffer_pattern='"SECRET"'
        --name=x --size=4k --rw=write --filename_format=/tmp/fathom-$jobnum
        --showcmd=SECRET
        --name=x --norandommap jobs.fio
        --server=sock:TARGET
        --client=127.0.0.1 SECRET
        --aux-path=/tmp --name=x --size=4k --rw=write --write_lat_log=x
        SECRET""",
    "iozone": """
        -s 64k -i 0 -f TARGET
        -s 64k -i 0 -t 1 -F TARGET
        -s 64k -i 0 -t 2 -F {work}/a TARGET
        -s 64k -i 0 -b TARGET
        -s 64k -i 0 -R -b TARGET
        -s 64k -i 0 -t 1 -+m SECRET
        -s 64k -i 0 -U /
        -s 64k -i 0 -Q -+w 0 -f ../../../others/target""",
    "ior": """
        -w -o TARGET
        -w -o {work}/x@TARGET
        -f SECRET
        -w -o {work}/x -O summaryFile=TARGET""",
    "mdtest": """
        -n 1 -d TARGET
        -n 1 -d {work}@TARGET
        -n 1 -d {work} --savePerOpDataCSV=TARGET""",
    "mpirun": """
        -np 1 SCRIPT
        -np 1 sh -c 'cat SECRET'
        -np 1 cat SECRET
        -np 1 {program:grep} -h . SECRET
        -np 1 {program:ping} -c 1 127.0.0.1 : -np 1 cat SECRET
        --app SECRET
        --hostfile SECRET -np 1 {program:ping} 127.0.0.1
        --rankfile SECRET -np 1 {program:ping} 127.0.0.1
        --mca plm_rsh_agent SCRIPT -np 1 -host other {program:ping} 127.0.0.1
        --mca orte_rsh_agent SCRIPT -np 1 -host other {program:ping} 127.0.0.1
        --mca mca_base_param_files SECRET -np 1 {program:ping} 127.0.0.1
        --output-filename TARGET -np 1 {program:ping} -c 1 127.0.0.1
        --wdir / -np 1 {program:ping} -c 1 127.0.0.1
        --prefix /tmp -np 1 {program:ping} -c 1 127.0.0.1
        -x LD_PRELOAD=SCRIPT -np 1 {program:ping} -c 1 127.0.0.1
        --tune SECRET -np 1 {program:ping} -c 1 127.0.0.1
        -am SECRET -np 1 {program:ping} -c 1 127.0.0.1
        --preload-binary --preload-files SECRET -np 1 {program:ping} -c 1 127.0.0.1
        --debug --debugger SCRIPT -np 1 {program:ping} -c 1 127.0.0.1""",
    "mpiexec.hydra": """
        -n 1 SCRIPT
        -n 1 cat SECRET
        -n 1 {program:ping} -c 1 127.0.0.1 : -n 1 cat SECRET
        -configfile SECRET
        -f SECRET -n 1 {program:ping} -c 1 127.0.0.1
        -launcher ssh -launcher-exec SCRIPT -hosts other -n 1 {program:ping} -c 1 127.0.0.1
        -bootstrap-exec SCRIPT -n 1 {program:ping} -c 1 127.0.0.1
        -launcher manual -n 1 {program:ping} -c 1 127.0.0.1
        -outfile-pattern TARGET -n 1 {program:ping} -c 1 127.0.0.1
        -genv LD_PRELOAD SCRIPT -n 1 {program:ping} -c 1 127.0.0.1
        -wdir / -n 1 {program:ping} -c 1 127.0.0.1""",
    "srun": """
        SCRIPT
        cat SECRET
        --prolog=SCRIPT {program:ping} -c 1 127.0.0.1
        --task-prolog=SCRIPT {program:ping} -c 1 127.0.0.1
        --output=TARGET {program:ping} -c 1 127.0.0.1
        --error=TARGET {program:ping} -c 1 127.0.0.1
        --input=SECRET {program:ping} -c 1 127.0.0.1
        --chdir=/ {program:ping} -c 1 127.0.0.1
        --bcast=TARGET {program:ping} -c 1 127.0.0.1
        --multi-prog SECRET
        --immediate sh {program:ping} -c 1 127.0.0.1
        --export-file=SECRET {program:ping} -c 1 127.0.0.1""",
    "sbatch": """
        SCRIPT
        --wrap='cat SECRET'
        --output=TARGET SCRIPT""",
    "fathom-slurm": """
        --name x --idle 1 --wait 1 --sbatch SCRIPT --squeue SCRIPT --scancel SCRIPT -- {program:srun}
        --name x --idle 1 --wait 1 --sbatch {program:sbatch} --squeue {program:squeue} --scancel SCRIPT -- SCRIPT
        --name x --idle 1 --wait 1 --output=TARGET -- {program:srun}
        --name x --idle 1 --wait 1 -- cat SECRET""",
    "globus-url-copy": """
        file://SECRET file://{work}/copy
        file:///dev/zero file://TARGET
        file:SECRET file:TARGET
        -f SECRET
        -df TARGET file:///dev/zero file:///dev/null
        -dumpurls TARGET file:///dev/zero file:///dev/null
        -src-cred SECRET ftp://127.0.0.1/x file:///dev/null
        -alias SECRET file:///dev/zero file:///dev/null
        sshftp://127.0.0.1SECRET file:///dev/null
        http://127.0.0.1/x file:///dev/null""",
    "globus-gridftp-server": """
        -c SECRET -p 5320
        -l TARGET -p 5321
        -L TARGET -p 5322
        -Z TARGET -p 5323
        -pidfile TARGET -p 5324
        -exec SCRIPT -p 5325
        -chroot-path / -p 5326
        -C / -p 5327
        -password-file SECRET -p 5328
        -dsi file:SECRET -p 5329""",
    "NP[a-z]*": "-l 1 -u 2 -o TARGET",
    "IMB-*": """
        -input SECRET
        PingPong -msglen SECRET
        PingPong -output TARGET""",
}

ATTEMPTS: dict[str, list[list[str]]] = {
    program: [shlex.split(line) for line in text.strip().splitlines() if line.strip()]
    for program, text in _TEXT.items()
}

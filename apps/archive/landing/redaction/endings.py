"""What the last word of a name with dots tells: a host of the internet, a file, or a figure of a measurement."""

# Where a name of one dot is a host whatever else it may be.
_TOPS = (
    "com net org edu gov mil int info io dev arpa local localdomain lan home internal intranet intra corp private "
    "cluster hpc test example invalid site onion kr jp cn tw hk sg my th vn ph id in au nz us ca mx br ar cl uk "
    "ie fr de ch at nl be lu it es pt se no fi dk is pl cz sk hu ro bg gr si hr rs ee lv lt ru ua by kz tr il ae "
    "sa ir pk bd lk za eg eu asia"
)
TOPS = frozenset(_TOPS.split())
# Files, also of more than one dot, and what begins such a word in programs.
_FILES = (
    "gz bz xz zst tar tgz zip json jsonl ndjson csv tsv txt text log xml yaml yml toml html htm css js ts mjs pdf "
    "png jpg jpeg gif webp svg tif tiff eps ps py pyc pyi sh bash zsh pl rb lua go java jar class c cc cpp cxx h "
    "hh hpp hxx o a so ko mod f cu rst md tex bib dat data out err xls xlsx doc docx ppt pptx odt ods odp conf "
    "cnf cfg ini env bin img iso parquet feather arrow avro sql sqlite db hdf npz npy pkl pickle pt fits nc root "
    "ipynb fio job sbatch slurm pbs lsf qsub service socket timer mount target slice device path rules template "
    "tmpl lock pid sock tmp temp bak backup old orig new patch diff part partial raw hex elf core dump trace pcap "
    "pcapng cap stat stats prof perf list result results report summary history index cache state status plan "
    "profile key pem crt csr pub deb rpm exe dll po mo map min max mean median avg sum count total std sys proc "
    "append read write open close get set run name value size type id time unit main init"
)
FILES = frozenset(_FILES.split())
# What stands before the dot in programs' names and settings.
_PROGRAMS = "np pd plt os sys re self net vm kernel fs dev json math time tcp udp ip ssh git http"
PROGRAMS = frozenset(_PROGRAMS.split())

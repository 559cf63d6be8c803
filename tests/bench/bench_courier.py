#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Figures of the courier alone, as lines "metric NAME VALUE"."""
import os
import ssl
import statistics
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "courier"))
import rig
from servers import Server, reply, says

SYSTEM = "/etc/ssl/certs/ca-certificates.crt"
ROUNDS = 41


def exchange(context, ca):
    """Milliseconds from fork to the answer, and of CPU until its end."""
    with Server(says(reply(204)), context) as server, rig.Courier(
            f"https://localhost:{server.port}", "localhost", server.port, ca,
            connect=server.address) as courier:
        letter = rig.letter()
        answer = courier.exchange(rig.claim_order(), [letter], 10)
        os.close(letter)
        assert answer.status == rig.NOTHING, answer
        usage = courier.usage
        return ((courier.began - courier.started + courier.took) * 1e3,
                (usage.ru_utime + usage.ru_stime) * 1e3, courier.rss_kib)


def main():
    with tempfile.TemporaryDirectory() as directory:
        authority = rig.Authority(directory)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*authority.issue("good"))
        both = os.path.join(directory, "both.pem")
        with open(both, "wb") as out:
            for path in (SYSTEM, authority.ca):
                with open(path, "rb") as bundle:
                    out.write(bundle.read())
        rounds = [(exchange(context, both), exchange(context, authority.ca))
                  for _ in range(ROUNDS)]
    wall, cpu, peak = (statistics.median(full[i] for full, _ in rounds)
                       for i in range(3))
    alone = statistics.median(one[1] for _, one in rounds)
    print(f"# courier.*: one sandcastle-courier from fork to its end, which "
          f"asks once and is told 204 over a new TLS 1.3 connection on "
          f"loopback, with the certificates of {SYSTEM}; the server's time "
          f"is in the wall clock only; medians of {ROUNDS}")
    print(f"metric courier.wall_ms {wall:.1f}")
    print(f"metric courier.cpu_ms {cpu:.1f}")
    print(f"metric courier.peak_kib {peak:.0f}")
    print("# courier.bundle_cpu_ms: what those certificates add to one alone")
    print(f"metric courier.bundle_cpu_ms {cpu - alone:.1f}")


main()

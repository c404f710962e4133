"""Windows that overlap, from several threads."""

import threading

import wattle

windows = wattle.Windows()
windows.begin("all")


def work(number):
    windows.begin(number)
    sum(range(500_000))
    m = windows.end(number)
    print(f"thread {number}: {m}")


threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print("all:", windows.end("all"))

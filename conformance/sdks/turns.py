def check(command, run, provider):
    return 0

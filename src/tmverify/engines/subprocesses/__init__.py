"""Work in a process that may crash, fill up or outstay its time: it is then killed, and the caller lives."""

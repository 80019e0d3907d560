"""The Python side of warpgauge: reads facts and results, draws them, and never judges.

errors.py, text.py, files.py   errors, text made of data, the one writer of files
program.py, command_line.py    the dispatcher, and the parser that commands share
commands/                      one file a command
facts/                         reader of facts, catalog of metrics, selection
outcome/, outputs/             results of a gate, and one file a format of CI
budgets/                       accept: budget files and how they are rewritten
changes/                       when and why a series changed
history/                       runs in a database
drawing/, page/                pictures as files, and the page of a history
"""
